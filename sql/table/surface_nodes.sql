-- One row: one event that joined a session's surface; live while shadowed_by is NULL, then the seq of the replace that took its place.
CREATE TABLE surface_nodes (
  session     INTEGER NOT NULL REFERENCES sessions (id),
  seq         INTEGER NOT NULL,
  pos         INTEGER NOT NULL,                      -- orders the surface: an append's own seq, a replace's first shadowed pos
  shadowed_by INTEGER,
  owner       INTEGER NOT NULL,                      -- whose row of `events` it is: an ancestor's for an inherited node
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX surface_nodes_live ON surface_nodes (session, pos) WHERE shadowed_by IS NULL;
