-- One row: one tool call, with the result as it first came in. A call that was not started has no `started`: its `seq` is where it was answered, or else announced.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW tool_calls AS
SELECT t.session, t.session_id, t.format_version, t.seq, answer.seq AS result_seq,
       first.data ->> '$.turn' AS turn, first.data ->> '$.step' AS step, call_id,
       coalesce(block, first.data) ->> '$.name' AS name, coalesce(block, first.data) ->> '$.arguments' AS arguments,
       (SELECT group_concat(part ->> '$.text', '"\n"' ->> '$')
          FROM (SELECT iif(type = 'object', value, '{}') AS part
                  FROM json_each(answer.data, iif((answer.data ->> '$.message.content[0].type') = 'tool-result', '$.message.content[0].content',
                                                  iif(json_type(answer.data, '$.message.content') IS NULL, '$.content', '$.message.content'))))
         WHERE (part ->> '$.type') = 'text') AS result,
       coalesce(answer.data ->> '$.message.isError', answer.data ->> '$.message.content[0].isError', answer.data ->> '$.isError',
                iif(answer.seq IS NULL, NULL, 0)) AS is_error,
       answer.data ->> '$.error.code' AS error_code,
       started, answer.time AS ended, answer.time - started AS duration, answer.seq IS NULL AS open
  FROM (SELECT session, session_id, format_version, call_id, block, started, owner AS first_owner, seq AS first_seq,
               iif(type = 'assistant/message' AND next_type = 'tool/result', next_seq, seq) AS seq,
               CASE 'tool/result' WHEN type THEN seq WHEN next_type THEN next_seq END AS answer_seq,
               CASE 'tool/result' WHEN type THEN owner WHEN next_type THEN next_owner END AS answer_owner
          FROM (SELECT *, lag(type, 1, 'tool/result') OVER calls AS last_type,
                       lead(type, 1, '') OVER calls AS next_type, lead(owner) OVER calls AS next_owner, lead(seq) OVER calls AS next_seq
                  -- what announces a call (a block of a message, which names it), what starts one, what answers one
                  FROM (SELECT s.id AS session, s.session_id, s.format_version, e.session AS owner, e.seq, e.type, block.value AS block,
                               iif(e.type = 'assistant/message', block.value ->> '$.id', coalesce(e.data ->> '$.callId', e.data ->> '$.message.source.callId')) AS call_id,
                               iif(e.type = 'tool/call', e.time, NULL) AS started
                          FROM sessions AS s CROSS JOIN segments AS g
                         CROSS JOIN (VALUES ('assistant/message'), ('tool/call'), ('tool/result')) AS kinds CROSS JOIN events AS e
                          LEFT JOIN json_each(iif(e.type = 'assistant/message', e.data, NULL),
                                              iif(s.format_version = 0 AND json_type(e.data, '$.message') IS NULL, '$.content', '$.message.content')) AS block
                            ON iif(block.type = 'object', block.value ->> '$.type', NULL) = 'tool-call'
                         WHERE g.session = s.id AND e.type = kinds.column1 AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
                           AND (e.type = 'tool/call' OR e.surface_op = '"append"')
                           AND (e.type <> 'assistant/message' OR (block.value ->> '$.id') IS NOT NULL))
                WINDOW calls AS (PARTITION BY session, session_id, format_version, call_id ORDER BY seq))
         -- a row is where a call comes first: it was not announced and started before
         WHERE CASE type WHEN 'tool/call' THEN 1
                         WHEN 'tool/result' THEN last_type = 'tool/result'
                         ELSE next_type <> 'tool/call' AND coalesce(next_seq > seq, 1) END) AS t
  LEFT JOIN events AS first ON first.session = first_owner AND first.seq = first_seq
  LEFT JOIN events AS answer ON answer.session = answer_owner AND answer.seq = answer_seq;
