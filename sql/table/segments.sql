-- One row: the part first_seq..last_seq of a session's log stands in the rows of `owner` (2^53-1: open, the session's own growing end).
CREATE TABLE segments (
  session   INTEGER NOT NULL REFERENCES sessions (id),
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  owner     INTEGER NOT NULL,
  PRIMARY KEY (session, first_seq)
) STRICT, WITHOUT ROWID;
