-- One row: one node of a session's surface as it is now, in the order in which the model sees it (position counts from 0).
CREATE VIEW surface AS
SELECT s.id AS session, s.session_id, s.format_version,
       row_number() OVER (PARTITION BY s.id, s.session_id, s.format_version ORDER BY n.pos) - 1 AS position,
       n.seq, e.type
  FROM sessions AS s
  JOIN surface_nodes AS n ON n.session = s.id AND n.shadowed_by IS NULL
  JOIN events AS e ON e.session = n.owner AND e.seq = n.seq;
