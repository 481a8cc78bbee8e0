-- One row: one turn of a session; times are epoch ms. The last turn is open until it ends; what cut an earlier one short is not told.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW turns AS
SELECT session, session_id, format_version, data ->> '$.turn' AS turn, seq AS first_seq,
       iif(next_type = 'turn/end', next_seq, NULL) AS last_seq,
       time AS started,
       iif(next_type = 'turn/end', next_time, NULL) AS ended,
       iif(next_type = 'turn/end', next_time - time, NULL) AS duration,
       (SELECT e.data ->> '$.reason.kind' FROM events AS e
         WHERE e.session = next_owner AND e.seq = next_seq AND e.type = 'turn/end') AS reason,
       next_type IS NULL AS open
  FROM (SELECT s.id AS session, s.session_id, s.format_version, e.seq, e.type, e.time, e.data,
               lead(e.session) OVER marks AS next_owner, lead(e.seq) OVER marks AS next_seq,
               lead(e.type) OVER marks AS next_type, lead(e.time) OVER marks AS next_time
          FROM sessions AS s CROSS JOIN segments AS g CROSS JOIN (VALUES ('turn/start'), ('turn/end')) AS kinds CROSS JOIN events AS e
         WHERE g.session = s.id AND e.type = kinds.column1 AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
        WINDOW marks AS (PARTITION BY s.id, s.session_id, s.format_version ORDER BY e.seq))
 WHERE type = 'turn/start';
