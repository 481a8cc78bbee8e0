-- One row: the packed tokens of one row of `events`: a run's log lines (`at` NULL), or the `stream` member cut out of its data at byte `at`.
CREATE TABLE streams (
  session    INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  at         INTEGER,                                -- byte offset of the null that stands in data in its place
  size       INTEGER NOT NULL,                       -- bytes unpacked
  body       BLOB    NOT NULL,                       -- one zstd frame
  first_time INTEGER,                                -- epoch ms of the first and last token
  last_time  INTEGER,
  usage      TEXT,                                   -- JSON: the token usage that the provider reported in the stream
  finish     TEXT,                                   -- how the stream ended: stop, tool-calls, max-tokens, aborted, error
  PRIMARY KEY (session, seq),
  FOREIGN KEY (session, seq) REFERENCES events (session, seq)
) STRICT;
