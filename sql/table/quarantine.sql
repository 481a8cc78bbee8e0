-- One row: one piece of a log that a salvage set aside, with its bytes: a record that has no place in the session, or what is no record.
CREATE TABLE quarantine (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  import INTEGER NOT NULL REFERENCES imports (id),
  kind   TEXT    NOT NULL,                           -- record (reads whole), debris, or padding (NUL bytes, counted and not kept)
  branch INTEGER,                                    -- which of several continuations of the log a record belongs to, from 1
  seq    INTEGER,                                    -- the first seq that a record claims
  line   INTEGER,                                    -- from 1, header included; NULL for a frame that could not be read
  frame  INTEGER,                                    -- zstd frame, from 0
  offset INTEGER NOT NULL,                           -- byte of the piece in a plain log, of the frame in a zstd one
  size   INTEGER NOT NULL,                           -- bytes
  reason TEXT    NOT NULL,
  raw    BLOB                                        -- without the line end; NULL for padding
) STRICT;

CREATE INDEX quarantine_import ON quarantine (import, line);
