-- One row: one tool call, with the result as it first came in; `started` is NULL for a call that was answered without being started.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW tool_calls AS
SELECT session, session_id, format_version, seq,
       coalesce(call, answer) ->> '$.turn' AS turn, coalesce(call, answer) ->> '$.step' AS step, call_id,
       call ->> '$.name' AS name, call ->> '$.arguments' AS arguments,
       (SELECT group_concat(block ->> '$.text', char(10))
          FROM (SELECT iif(type = 'object', value, '{}') AS block
                  FROM json_each(iif(answer ->> '$.message.content[0].type' = 'tool-result',
                                     answer -> '$.message.content[0].content', answer -> '$.message.content')))
         WHERE block ->> '$.type' = 'text') AS result,
       coalesce(answer ->> '$.message.isError', answer ->> '$.message.content[0].isError', iif(answer IS NULL, NULL, 0)) AS is_error,
       answer ->> '$.error.code' AS error_code,
       started, ended, ended - started AS duration, answer IS NULL AS open
  FROM (SELECT session, session_id, format_version, call_id, seq,
               iif(type = 'tool/call', data, NULL) AS call,
               iif(type = 'tool/result', data, iif(next_type = 'tool/result', next_data, NULL)) AS answer,
               iif(type = 'tool/call', time, NULL) AS started,
               iif(type = 'tool/result', time, iif(next_type = 'tool/result', next_time, NULL)) AS ended,
               type, previous_type
          FROM (SELECT s.id AS session, s.session_id, s.format_version, e.seq, e.type, e.time, e.data,
                       coalesce(e.data ->> '$.callId', e.data ->> '$.message.source.callId') AS call_id,
                       lead(e.type) OVER calls AS next_type, lead(e.time) OVER calls AS next_time,
                       lead(e.data) OVER calls AS next_data, lag(e.type) OVER calls AS previous_type
                  FROM sessions AS s
                  CROSS JOIN segments AS g ON g.session = s.id
                  CROSS JOIN events AS e INDEXED BY events_type
                          ON e.type IN ('tool/call', 'tool/result') AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
                 WHERE e.type = 'tool/call' OR e.surface_op = '"append"'
                WINDOW calls AS (
                  PARTITION BY s.id, s.session_id, s.format_version,
                               coalesce(e.data ->> '$.callId', e.data ->> '$.message.source.callId')
                  ORDER BY e.seq))
         WHERE type = 'tool/call' OR previous_type IS NOT 'tool/call');
