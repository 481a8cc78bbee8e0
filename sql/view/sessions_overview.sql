-- One row: one session (its highest generation) at a glance; times are epoch ms, open_turn is the turn that has not ended.
CREATE VIEW sessions_overview AS
SELECT s.session, s.session_id, s.format_version,
       (SELECT e.data ->> '$.title' FROM segments AS g JOIN events AS e
            ON e.type = 'session/title' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS title,
       (SELECT iif(json_type(e.data, '$.content') = 'array', e.data ->> '$.content[0].text', NULL)
          FROM segments AS g JOIN events AS e
            ON e.type = 'user/message' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session AND e.data ->> '$.source.kind' = 'user'
         ORDER BY g.first_seq, e.seq LIMIT 1) AS first_prompt,
       s.cwd AS project, s.runtime,
       (SELECT e.data ->> '$.header.config.model' FROM segments AS g JOIN events AS e
            ON e.type = 'request/header' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS model,
       (SELECT count(*) FROM segments AS g JOIN events AS e
            ON e.type = 'turn/start' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session) AS turns,
       s.next_seq AS events, s.inherited_count AS inherited,
       (SELECT count(*) FROM surface_nodes AS n WHERE n.session = s.session AND n.shadowed_by IS NULL) AS surface_nodes,
       (SELECT e.time FROM segments AS g JOIN events AS e ON e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq, e.seq LIMIT 1) AS first_time,
       (SELECT coalesce((SELECT last_time FROM streams WHERE session = e.session AND seq = e.seq AND at IS NULL), e.time)
          FROM segments AS g JOIN events AS e ON e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS last_time,
       s.created_at, s.parent_session,
       (SELECT iif(last.type = 'turn/start', last.data ->> '$.turn', NULL)
          FROM (SELECT e.type, e.data FROM segments AS g JOIN events AS e
                    ON e.type IN ('turn/start', 'turn/end') AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
                 WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS last) AS open_turn
  FROM current_sessions AS s;
