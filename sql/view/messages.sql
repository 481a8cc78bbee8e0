-- One row: one message that the model sees now, as stored; `position` is its node's place on the surface, `text` the text in it.
CREATE VIEW messages AS
SELECT session, session_id, format_version, position, seq, message ->> '$.role' AS role,
       (SELECT group_concat(block ->> '$.text', '"\n"' ->> '$')
          FROM (SELECT iif(type = 'object', value, '{}') AS block
                  FROM json_each(iif((message ->> '$.content[0].type') = 'tool-result',
                                     message -> '$.content[0].content', message -> '$.content')))
         WHERE (block ->> '$.type') = 'text') AS text,
       message
  FROM (SELECT s.id AS session, s.session_id, s.format_version,
               row_number() OVER (PARTITION BY s.id, s.session_id, s.format_version ORDER BY n.pos) - 1 AS position,
               n.seq, e.type,
               iif(e.type = 'user/message', e.data, e.data -> '$.message') AS message
          FROM sessions AS s
          JOIN surface_nodes AS n ON n.session = s.id AND n.shadowed_by IS NULL
          JOIN events AS e ON e.session = n.owner AND e.seq = n.seq)
 WHERE type IN ('user/message', 'tool/result') OR coalesce(json_array_length(message, '$.content'), 1) <> 0;
