-- One row: one reading of one log file that left something in the store.
CREATE TABLE imports (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  session        INTEGER REFERENCES sessions (id),   -- NULL once the session is deleted, or when only quarantine came of it
  path           TEXT    NOT NULL,
  encoding       TEXT    NOT NULL,                   -- plain or zstd
  size           INTEGER NOT NULL,                   -- bytes of the file as it was read
  sha256         TEXT    NOT NULL,
  kept_size      INTEGER NOT NULL,                   -- bytes up to the end of the last whole record (plain) or frame (zstd) taken
  kept_sha256    TEXT    NOT NULL,
  lines          INTEGER NOT NULL,                   -- whole lines within kept_size, header included
  frames         INTEGER NOT NULL,                   -- whole zstd frames within kept_size
  events         INTEGER NOT NULL,                   -- events of the session within kept_size
  content_sha256 TEXT,                               -- of the lines up to there as the store gives them back; NULL: not taken
  notes          TEXT    NOT NULL DEFAULT '[]',      -- JSON array of sentences
  imported_at    INTEGER NOT NULL                    -- epoch ms
) STRICT;

CREATE INDEX imports_session ON imports (session);
