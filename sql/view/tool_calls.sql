-- One row: one tool call, with the result as it first came in; `started` is NULL for a call that was answered without being started.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW tool_calls AS
SELECT t.session, t.session_id, t.format_version, t.seq, result_seq,
       coalesce(call.data, answer.data) ->> '$.turn' AS turn, coalesce(call.data, answer.data) ->> '$.step' AS step, call_id,
       iif(call_seq IS NOT NULL, call.data ->> '$.name',
           (SELECT iif(block.type = 'object', block.value, '{}') ->> '$.name'
              FROM (SELECT coalesce(m.data -> '$.message.content', m.data -> '$.content') AS content
                      FROM segments AS g
                      JOIN events AS m ON m.type = 'assistant/message' AND m.session = g.owner
                                      AND m.seq BETWEEN g.first_seq AND min(g.last_seq, result_seq)
                     WHERE g.session = t.session ORDER BY g.first_seq DESC, m.seq DESC LIMIT 1) AS told
              JOIN json_each(told.content) AS block
             WHERE iif(block.type = 'object', block.value, '{}') ->> '$.type' = 'tool-call'
               AND iif(block.type = 'object', block.value, '{}') ->> '$.id' = call_id LIMIT 1)) AS name,
       iif(call_seq IS NOT NULL, call.data ->> '$.arguments',
           (SELECT iif(block.type = 'object', block.value, '{}') ->> '$.arguments'
              FROM (SELECT coalesce(m.data -> '$.message.content', m.data -> '$.content') AS content
                      FROM segments AS g
                      JOIN events AS m ON m.type = 'assistant/message' AND m.session = g.owner
                                      AND m.seq BETWEEN g.first_seq AND min(g.last_seq, result_seq)
                     WHERE g.session = t.session ORDER BY g.first_seq DESC, m.seq DESC LIMIT 1) AS told
              JOIN json_each(told.content) AS block
             WHERE iif(block.type = 'object', block.value, '{}') ->> '$.type' = 'tool-call'
               AND iif(block.type = 'object', block.value, '{}') ->> '$.id' = call_id LIMIT 1)) AS arguments,
       (SELECT group_concat(block ->> '$.text', char(10))
          FROM (SELECT iif(type = 'object', value, '{}') AS block
                  FROM json_each(iif(answer.data ->> '$.message.content[0].type' = 'tool-result',
                                     answer.data -> '$.message.content[0].content',
                                     coalesce(answer.data -> '$.message.content', answer.data -> '$.content'))))
         WHERE block ->> '$.type' = 'text') AS result,
       coalesce(answer.data ->> '$.message.isError', answer.data ->> '$.message.content[0].isError', answer.data ->> '$.isError',
                iif(result_seq IS NULL, NULL, 0)) AS is_error,
       answer.data ->> '$.error.code' AS error_code,
       started, ended, ended - started AS duration, result_seq IS NULL AS open
  FROM (SELECT session, session_id, format_version, call_id, seq,
               iif(type = 'tool/call', seq, NULL) AS call_seq, iif(type = 'tool/call', owner, NULL) AS call_owner,
               iif(type = 'tool/call', time, NULL) AS started,
               CASE 'tool/result' WHEN type THEN seq WHEN next_type THEN next_seq END AS result_seq,
               CASE 'tool/result' WHEN type THEN owner WHEN next_type THEN next_owner END AS result_owner,
               CASE 'tool/result' WHEN type THEN time WHEN next_type THEN next_time END AS ended
          FROM (SELECT session, session_id, format_version, call_id, owner, seq, type, time,
                       lag(type) OVER calls AS previous_type, lead(type) OVER calls AS next_type,
                       lead(owner) OVER calls AS next_owner, lead(seq) OVER calls AS next_seq, lead(time) OVER calls AS next_time
                  FROM (SELECT s.id AS session, s.session_id, s.format_version, e.session AS owner, e.seq, e.type, e.time,
                               coalesce(e.data ->> '$.callId', e.data ->> '$.message.source.callId') AS call_id
                          FROM sessions AS s
                          CROSS JOIN segments AS g ON g.session = s.id
                          CROSS JOIN events AS e INDEXED BY events_type ON e.type IN ('tool/call', 'tool/result') AND e.session = g.owner
                                          AND e.seq BETWEEN g.first_seq AND g.last_seq
                         WHERE e.type = 'tool/call' OR e.surface_op = '"append"')
                WINDOW calls AS (PARTITION BY session, session_id, format_version, call_id ORDER BY seq))
         WHERE type = 'tool/call' OR previous_type IS NOT 'tool/call') AS t
  LEFT JOIN events AS call ON call.session = call_owner AND call.seq = call_seq
  LEFT JOIN events AS answer ON answer.session = result_owner AND answer.seq = result_seq;
