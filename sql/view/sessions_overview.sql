-- One row: one session (its highest generation) at a glance; times are epoch ms, open_turn is the turn that has not ended.
CREATE VIEW sessions_overview AS
SELECT s.session, s.session_id, s.format_version,
       (SELECT CAST(e.data ->> '$.title' AS TEXT) FROM segments AS g JOIN events AS e
            ON e.type = 'session/title' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS title,
       (SELECT CAST(e.data ->> '$.content[0].text' AS TEXT)
          FROM segments AS g JOIN events AS e
            ON e.type = 'user/message' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session AND (e.data ->> '$.source.kind') = 'user'
         ORDER BY g.first_seq, e.seq LIMIT 1) AS first_prompt,
       s.cwd AS project, s.runtime,
       coalesce(
         (SELECT CAST(e.data ->> '$.header.config.model' AS TEXT) FROM segments AS g JOIN events AS e
              ON e.type = 'request/header' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
           WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1),
         (SELECT CAST(coalesce(e.data ->> '$.message.source.model', e.data ->> '$.provenance.model') AS TEXT) FROM segments AS g JOIN events AS e
              ON e.type = 'assistant/message' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
           WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1)) AS model,
       (SELECT count(e.seq) FROM segments AS g JOIN events AS e
            ON e.type = 'turn/start' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session) AS turns,
       s.next_seq AS events, s.inherited_count AS inherited,
       -- all that providers reported of its own calls: input, output, cache reads and writes
       (SELECT coalesce(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens), 0)
          FROM usage AS u WHERE u.session = s.session) AS tokens,
       (SELECT count(n.seq) FROM surface_nodes AS n WHERE n.session = s.session AND n.shadowed_by IS NULL) AS surface_nodes,
       (SELECT e.time FROM segments AS g JOIN events AS e ON e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq, e.seq LIMIT 1) AS first_time,
       (SELECT coalesce((SELECT p.last_time FROM streams AS p WHERE p.session = e.session AND p.seq = e.seq AND p.at IS NULL), e.time)
          FROM segments AS g JOIN events AS e ON e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS last_time,
       s.created_at, s.parent_session,
       (SELECT iif(EXISTS (SELECT 1 FROM segments AS h JOIN events AS f
                             ON f.type = 'turn/end' AND f.session = h.owner AND f.seq BETWEEN h.first_seq AND h.last_seq
                           WHERE h.session = s.session AND f.seq > e.seq), NULL, e.data ->> '$.turn')
          FROM segments AS g JOIN events AS e
            ON e.type = 'turn/start' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
         WHERE g.session = s.session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1) AS open_turn
  FROM current_sessions AS s;
