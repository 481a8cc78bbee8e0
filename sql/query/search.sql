-- event: an event that was found, what became of it on its session's surface, and the turn in which it stands
SELECT s.session_id, s.format_version, e.type, e.data, e.raw, n.seq IS NOT NULL AS joined, n.shadowed_by,
       (SELECT iif(EXISTS (SELECT 1 FROM events AS f
                            WHERE f.type = 'turn/end' AND f.session = b.session AND f.seq > b.seq AND f.seq < e.seq), NULL, b.data ->> '$.turn')
          FROM events AS b
         WHERE b.type = 'turn/start' AND b.session = e.session AND b.seq <= e.seq ORDER BY b.seq DESC LIMIT 1) AS turn
  FROM sessions AS s
  JOIN events AS e ON e.session = s.id AND e.seq = :seq
  LEFT JOIN surface_nodes AS n ON n.session = s.id AND n.seq = e.seq
 WHERE s.id = :session;

-- states: what became of events on their sessions' surfaces, in the order in which they are asked for
SELECT n.seq IS NOT NULL AS joined, n.shadowed_by
  FROM json_each(:places) AS place
  LEFT JOIN surface_nodes AS n ON n.session = place.value ->> 0 AND n.seq = place.value ->> 1
 ORDER BY place.key;

-- in_project: the sessions of a project
SELECT session FROM current_sessions
 WHERE cwd = :project OR substr(cwd, 1, length(rtrim(:project, '/')) + 1) = rtrim(:project, '/') || '/';
