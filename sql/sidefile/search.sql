-- The side file of a search: no part of a store, made from one and made anew whenever in doubt.

-- One row: one session as it was when its texts were last taken in: up to which event, when and from what it was made (born), its last event then.
CREATE TABLE seen (
  session  INTEGER PRIMARY KEY,                      -- sessions.id of the store
  next_seq INTEGER NOT NULL,
  born     TEXT    NOT NULL,
  last     TEXT    NOT NULL,
  own_from INTEGER NOT NULL                          -- events before it are found with the session's parent
) STRICT;

-- The one row: the event, the import and the session that were the store's last when all of this was seen, and what they held. While the
-- store has them still, it holds everything that was seen, for a store only grows; when not, it may have gone back, or be another one.
CREATE TABLE witness (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  event   INTEGER,                                   -- rowid
  import  INTEGER,
  session INTEGER,
  held    TEXT NOT NULL
) STRICT;

-- One row: one text of an event, in the order in which they were taken in.
CREATE TABLE texts (
  id      INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  role    TEXT    NOT NULL,
  time    INTEGER NOT NULL                           -- epoch ms
) STRICT;

CREATE INDEX texts_session ON texts (session);

-- One row: the terms of the text of this id. The text itself is in the store.
CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');
