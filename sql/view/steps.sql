-- One row: one step of a turn, that is one request to the model and the tools it called; times are epoch ms.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW steps AS
SELECT session, session_id, format_version, data ->> '$.turn' AS turn, data ->> '$.step' AS step, seq AS first_seq,
       iif(next_type = 'step/end', next_seq, NULL) AS last_seq,
       time AS started,
       iif(next_type = 'step/end', next_time, NULL) AS ended,
       iif(next_type = 'step/end', next_time - time, NULL) AS duration,
       next_type IS NULL AS open
  FROM (SELECT s.id AS session, s.session_id, s.format_version, e.seq, e.type, e.time, e.data,
               lead(e.seq) OVER marks AS next_seq, lead(e.type) OVER marks AS next_type, lead(e.time) OVER marks AS next_time
          FROM sessions AS s CROSS JOIN segments AS g CROSS JOIN (VALUES ('step/start'), ('step/end'), ('turn/start'), ('turn/end')) AS kinds CROSS JOIN events AS e
         WHERE g.session = s.id AND e.type = kinds.column1 AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
        WINDOW marks AS (PARTITION BY s.id, s.session_id, s.format_version ORDER BY e.seq))
 WHERE type = 'step/start';
