-- One row: one node that is no longer on a session's surface, with the event that took its place.
CREATE VIEW shadowed AS
SELECT s.id AS session, s.session_id, s.format_version, n.seq, e.type, n.shadowed_by
  FROM sessions AS s
  JOIN segments AS g ON g.session = s.id
  JOIN surface_nodes AS n ON n.session = g.owner AND n.shadowed_by BETWEEN g.first_seq AND g.last_seq
  JOIN events AS e ON e.session = n.owner AND e.seq = n.seq;
