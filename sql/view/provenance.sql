-- One row: one citation: event `seq`, which is or was on the surface, was made of event `source_seq`.
CREATE VIEW provenance AS
SELECT s.id AS session, s.session_id, s.format_version, e.seq, CAST(cited.value AS INTEGER) AS source_seq
  FROM sessions AS s
  JOIN segments AS g ON g.session = s.id
  JOIN events AS e ON e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
 CROSS JOIN json_each(e.source_event_seqs) AS cited
 WHERE e.surface_formats >> s.format_version & 1 AND e.source_event_seqs IS NOT NULL;
