-- One row: one tool call, with the result as it first came in. A call that was not started has no `started`: its `seq` is where it was answered, or else announced.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW tool_calls AS
SELECT t.session, t.session_id, t.format_version, t.seq, answer.seq AS result_seq,
       coalesce(call.data, answer.data) ->> '$.turn' AS turn, coalesce(call.data, answer.data) ->> '$.step' AS step, call_id,
       iif(call_seq IS NOT NULL, call.data ->> '$.name',
           (SELECT iif(block.type = 'object', block.value, '{}') ->> '$.name'
              FROM (SELECT coalesce(m.data -> '$.message.content', m.data -> '$.content') AS content
                      FROM segments AS g
                      JOIN events AS m ON m.type = 'assistant/message' AND m.session = g.owner
                                      AND m.seq BETWEEN g.first_seq AND min(g.last_seq, answer_seq)
                     WHERE g.session = t.session ORDER BY g.first_seq DESC, m.seq DESC LIMIT 1) AS told
             CROSS JOIN json_each(told.content) AS block
             WHERE iif(block.type = 'object', block.value, '{}') ->> '$.type' = 'tool-call'
               AND iif(block.type = 'object', block.value, '{}') ->> '$.id' = call_id LIMIT 1)) AS name,
       iif(call_seq IS NOT NULL, call.data ->> '$.arguments',
           (SELECT iif(block.type = 'object', block.value, '{}') ->> '$.arguments'
              FROM (SELECT coalesce(m.data -> '$.message.content', m.data -> '$.content') AS content
                      FROM segments AS g
                      JOIN events AS m ON m.type = 'assistant/message' AND m.session = g.owner
                                      AND m.seq BETWEEN g.first_seq AND min(g.last_seq, answer_seq)
                     WHERE g.session = t.session ORDER BY g.first_seq DESC, m.seq DESC LIMIT 1) AS told
             CROSS JOIN json_each(told.content) AS block
             WHERE iif(block.type = 'object', block.value, '{}') ->> '$.type' = 'tool-call'
               AND iif(block.type = 'object', block.value, '{}') ->> '$.id' = call_id LIMIT 1)) AS arguments,
       (SELECT group_concat(block ->> '$.text', '"\n"' ->> '$')
          FROM (SELECT iif(type = 'object', value, '{}') AS block
                  FROM json_each(iif(answer.data ->> '$.message.content[0].type' = 'tool-result',
                                     answer.data -> '$.message.content[0].content',
                                     coalesce(answer.data -> '$.message.content', answer.data -> '$.content'))))
         WHERE block ->> '$.type' = 'text') AS result,
       coalesce(answer.data ->> '$.message.isError', answer.data ->> '$.message.content[0].isError', answer.data ->> '$.isError',
                iif(answer.seq IS NULL, NULL, 0)) AS is_error,
       answer.data ->> '$.error.code' AS error_code,
       call.time AS started, answer.time AS ended, answer.time - call.time AS duration, answer.seq IS NULL AS open
  FROM (SELECT session, session_id, format_version, call_id, seq,
               iif(type = 'tool/call', seq, NULL) AS call_seq, iif(type = 'tool/call', owner, NULL) AS call_owner,
               CASE 'tool/result' WHEN type THEN seq WHEN next_type THEN next_seq END AS answer_seq,
               CASE 'tool/result' WHEN type THEN owner WHEN next_type THEN next_owner END AS answer_owner
          FROM (SELECT session, session_id, format_version, call_id, owner, seq, type,
                       lag(type, 1, '') OVER calls AS last_type, lead(type) OVER calls AS next_type,
                       lead(owner) OVER calls AS next_owner, lead(seq) OVER calls AS next_seq
                  FROM (SELECT s.id AS session, s.session_id, s.format_version, e.session AS owner, e.seq, e.type,
                               coalesce(e.data ->> '$.callId', e.data ->> '$.message.source.callId') AS call_id
                          FROM sessions AS s CROSS JOIN segments AS g CROSS JOIN (VALUES ('tool/call'), ('tool/result')) AS kinds CROSS JOIN events AS e
                         WHERE g.session = s.id AND e.type = kinds.column1 AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
                           AND (e.type = 'tool/call' OR e.surface_op = '"append"'))
                WINDOW calls AS (PARTITION BY session, session_id, format_version, call_id ORDER BY seq))
         WHERE type = 'tool/call' OR last_type <> 'tool/call') AS t
  LEFT JOIN events AS call ON call.session = call_owner AND call.seq = call_seq
  LEFT JOIN events AS answer ON answer.session = answer_owner AND answer.seq = answer_seq
UNION ALL
-- announced, and neither started nor answered before the model spoke again
SELECT session, session_id, format_version, seq, NULL, data ->> '$.turn', data ->> '$.step', block.value ->> '$.id',
       block.value ->> '$.name', block.value ->> '$.arguments', NULL, NULL, NULL, NULL, NULL, NULL, 1
  FROM (SELECT s.id AS session, s.session_id, s.format_version, m.seq, m.data,
               (SELECT n.seq FROM segments AS g JOIN events AS n ON n.type = 'assistant/message' AND n.session = g.owner AND n.seq BETWEEN max(g.first_seq, m.seq + 1) AND g.last_seq
                 WHERE g.session = s.id AND g.last_seq > m.seq ORDER BY g.first_seq, n.seq LIMIT 1) AS next_seq
          FROM sessions AS s CROSS JOIN segments AS g CROSS JOIN events AS m
         WHERE g.session = s.id AND m.type = 'assistant/message' AND m.session = g.owner AND m.seq BETWEEN g.first_seq AND g.last_seq
           AND m.surface_op = '"append"') AS told
 CROSS JOIN json_each(data, iif(format_version = 0 AND json_type(data, '$.message') IS NULL, '$.content', '$.message.content')) AS block
 WHERE block.type = 'object' AND block.value ->> '$.type' = 'tool-call' AND block.value ->> '$.id' IS NOT NULL
   AND NOT EXISTS (
         SELECT 1 FROM segments AS g CROSS JOIN (VALUES ('tool/call'), ('tool/result')) AS kinds CROSS JOIN events AS e
          WHERE g.session = told.session AND g.last_seq > told.seq
            AND e.type = kinds.column1 AND e.session = g.owner AND e.seq BETWEEN max(g.first_seq, told.seq) AND min(g.last_seq, coalesce(next_seq, g.last_seq))
            AND coalesce(e.data ->> '$.callId', e.data ->> '$.message.source.callId') = block.value ->> '$.id');
