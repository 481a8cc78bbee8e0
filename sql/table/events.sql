-- One row: one event of a session's own log, or a run: `count` token chunks of one turn and step (formats v0, v1) packed into `streams`.
CREATE TABLE events (
  session           INTEGER NOT NULL REFERENCES sessions (id),
  seq               INTEGER NOT NULL,                -- of the first member of a run
  count             INTEGER NOT NULL DEFAULT 1,
  type              TEXT    NOT NULL,
  time              INTEGER NOT NULL,                -- epoch ms
  data              TEXT    NOT NULL,                -- JSON that every SQLite reads
  source_event_seqs TEXT,                            -- JSON array of seqs, ranges expanded; NULL: absent
  surface_op        TEXT,                            -- JSON: "append", or an object with op "replace"; NULL: absent
  ignorable         INTEGER,                         -- 1 or NULL
  raw               BLOB,                            -- the log's line where the columns cannot rebuild it
  -- the formats in which the type may be on the surface: bit v for format v (all, from v3, from v4, v0 alone)
  surface_formats   INTEGER GENERATED ALWAYS AS (CASE type
                      WHEN 'user/message'      THEN -1
                      WHEN 'assistant/message' THEN -1
                      WHEN 'tool/result'       THEN -1
                      WHEN 'system/message'    THEN -8
                      WHEN 'developer/message' THEN -16
                      WHEN 'context/message'   THEN 1
                      WHEN 'steering/message'  THEN 1
                      ELSE 0 END) VIRTUAL,
  PRIMARY KEY (session, seq)
) STRICT;

CREATE INDEX events_type ON events (type, session, seq);
