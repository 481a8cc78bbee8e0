-- One row: one generation of one session's log; `header` is the log's first line; how many events it has says session_bounds.
CREATE TABLE sessions (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id       TEXT    NOT NULL,
  format_version   INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,                 -- epoch ms
  header           TEXT    NOT NULL,                 -- JSON that every SQLite reads
  header_raw       BLOB,                             -- the line's own bytes where they differ from header
  runtime          TEXT    NOT NULL DEFAULT 'dsh',   -- who wrote the log
  forked_from      INTEGER REFERENCES sessions (id), -- a fork: the session whose events up to seq forked_at it shares
  forked_at        INTEGER,
  -- members of the header, kept by triggers: columns generated from it would be worked out at every event that enters
  cwd              TEXT,
  parent_session   TEXT,
  origin           TEXT,
  delegation_depth INTEGER,
  agent_preset     TEXT,
  UNIQUE (session_id, format_version)
) STRICT;

CREATE INDEX sessions_forked_from ON sessions (forked_from) WHERE forked_from IS NOT NULL;
CREATE INDEX sessions_parent_session ON sessions (parent_session) WHERE parent_session IS NOT NULL;
