-- One row: one message that took the place of others on the surface: `kind` summary, prune (one tool result, rewritten) or edit; sizes before and after.
CREATE VIEW compactions AS
SELECT session, session_id, format_version, seq, time,
       CASE WHEN type = 'tool/result' THEN 'prune' WHEN is_summary THEN 'summary' ELSE 'edit' END AS kind,
       data ->> '$.source.compactionId' AS compaction_id, nodes, first_seq, last_seq,
       -- characters of the messages' content, as JSON
       characters AS characters_before,
       length(coalesce(data -> '$.message.content', data -> '$.content')) AS characters_after,
       -- before: as the harness counted them; after: what the model wrote as the summary
       (SELECT c.data ->> '$.shadowedTokenCount' FROM events AS c
         WHERE c.session = owner AND c.seq = iif(t.type = 'tool/result', t.seq - 1, summary_seq)
           AND (t.type <> 'tool/result' OR c.type IN ('compaction/prune', 'compact/prune'))) AS tokens_before,
       (SELECT c.data ->> '$.usage.outputTokens' FROM events AS c WHERE c.session = owner AND c.seq = summary_seq) AS tokens_after,
       (SELECT group_concat(block ->> '$.text', '"\n"' ->> '$')
          FROM (SELECT iif(type = 'object', value, '{}') AS block
                  FROM json_each(iif((t.data ->> '$.message.content[0].type') = 'tool-result',
                                     t.data -> '$.message.content[0].content',
                                     coalesce(t.data -> '$.message.content', t.data -> '$.content'))))
         WHERE (block ->> '$.type') = 'text') AS summary
  FROM (SELECT *, iif(is_summary,
                      (SELECT max(c.seq) FROM events AS c
                        WHERE c.type IN ('compaction/summary', 'compact/summary') AND c.session = owner AND c.seq < u.seq
                          AND coalesce((c.data ->> '$.compactionId') = (u.data ->> '$.source.compactionId'),
                                       (c.data ->> '$.compactionId') IS NULL AND (u.data ->> '$.source.compactionId') IS NULL)), NULL) AS summary_seq
          FROM (SELECT r.*, e.type, e.time, e.data,
                       (e.data ->> '$.source.compactionId') IS NOT NULL OR coalesce((e.data ->> '$.source.plugin') = 'compact', 0) AS is_summary
                  FROM (SELECT s.id AS session, s.session_id, s.format_version, n.shadowed_by AS seq, g.owner,
                               count(n.seq) AS nodes, min(o.seq) AS first_seq, max(o.seq) AS last_seq,
                               sum(length(coalesce(o.data -> '$.message.content', o.data -> '$.content'))) AS characters
                          FROM sessions AS s
                          JOIN segments AS g ON g.session = s.id
                          JOIN surface_nodes AS n ON n.session = g.owner AND n.shadowed_by BETWEEN g.first_seq AND g.last_seq
                          JOIN events AS o ON o.session = n.owner AND o.seq = n.seq
                         GROUP BY s.id, s.session_id, s.format_version, n.shadowed_by, g.owner) AS r
                 CROSS JOIN events AS e
                 WHERE e.session = r.owner AND e.seq = r.seq AND e.type IN ('user/message', 'assistant/message', 'tool/result')) AS u) AS t;
