-- event: an event that was found, what became of it, and the turn in which it stands; of :asked, a session that has it from :session, or of :session
SELECT s.session_id, s.format_version, e.type, e.data, e.raw, n.seq IS NOT NULL AS joined, n.shadowed_by,
       (SELECT iif(EXISTS (SELECT 1 FROM events AS f
                            WHERE f.type = 'turn/end' AND f.session = b.session AND f.seq > b.seq AND f.seq < e.seq), NULL, b.data ->> '$.turn')
          FROM events AS b
         WHERE b.type = 'turn/start' AND b.session = e.session AND b.seq <= e.seq ORDER BY b.seq DESC LIMIT 1) AS turn
  FROM sessions AS s
  JOIN events AS e ON e.session = :session AND e.seq = :seq
  LEFT JOIN surface_nodes AS n
    ON n.seq = e.seq
   AND n.session = iif(:asked IS NULL, e.session,
         -- what was shadowed before a fork has no node in it: its parent tells, or the parent's parent
         (SELECT g.owner FROM segments AS g JOIN surface_nodes AS m ON m.session = g.owner AND m.seq = e.seq
           WHERE g.session = :asked ORDER BY g.first_seq DESC LIMIT 1))
 WHERE s.id = coalesce(:asked, :session);

-- states: what became of events, likewise, in the order in which they are asked for
SELECT n.seq IS NOT NULL AS joined, n.shadowed_by
  FROM json_each(:places) AS place
  LEFT JOIN surface_nodes AS n
    ON n.seq = place.value ->> 1
   AND n.session = iif(:asked IS NULL, place.value ->> 0,
         (SELECT g.owner FROM segments AS g JOIN surface_nodes AS m ON m.session = g.owner AND m.seq = place.value ->> 1
           WHERE g.session = :asked ORDER BY g.first_seq DESC LIMIT 1))
 ORDER BY place.key;

-- in_project: the sessions of a project
SELECT session FROM current_sessions
 WHERE cwd = :project OR substr(cwd, 1, length(rtrim(:project, '/')) + 1) = rtrim(:project, '/') || '/';
