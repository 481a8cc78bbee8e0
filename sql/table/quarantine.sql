-- One row: one record or piece of a log that a salvage could not place in a session, with its bytes.
CREATE TABLE quarantine (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  import INTEGER NOT NULL REFERENCES imports (id),
  kind   TEXT    NOT NULL,                           -- record (reads whole), debris, or padding (NUL bytes, counted and not kept)
  branch INTEGER,                                    -- which of several interleaved continuations a record belongs to, from 1
  seq    INTEGER,                                    -- the seq that the record claims
  line   INTEGER,                                    -- from 1, header included
  frame  INTEGER,                                    -- zstd frame, from 0
  offset INTEGER NOT NULL,                           -- byte of the line in a plain log, of the frame in a zstd one
  size   INTEGER NOT NULL,                           -- bytes
  reason TEXT    NOT NULL,
  raw    BLOB                                        -- NULL for padding
) STRICT;

CREATE INDEX quarantine_import ON quarantine (import);
