-- One row: one message that took the place of others on the surface: `kind` summary, prune (one tool result, rewritten) or edit; sizes before and after.
CREATE VIEW compactions AS
SELECT r.session, r.session_id, r.format_version, r.seq, e.time,
       CASE WHEN e.type = 'tool/result' THEN 'prune'
            WHEN e.data ->> '$.source.compactionId' IS NOT NULL THEN 'summary'
            ELSE 'edit' END AS kind,
       e.data ->> '$.source.compactionId' AS compaction_id,
       r.nodes, r.first_seq, r.last_seq,
       -- characters of the messages' content, as JSON
       r.characters AS characters_before,
       length(coalesce(e.data -> '$.message.content', e.data -> '$.content')) AS characters_after,
       -- before: as the harness counted them; after: what the model wrote as the summary
       (SELECT c.data ->> '$.shadowedTokenCount' FROM events AS c
         WHERE c.type IN ('compaction/summary', 'compact/summary', 'compaction/prune', 'compact/prune') AND c.session = r.owner
           AND c.seq BETWEEN r.last_seq AND r.seq
           AND (c.data ->> '$.compactionId' IS e.data ->> '$.source.compactionId' OR c.data ->> '$.compactionId' IS NULL)
         ORDER BY c.seq DESC LIMIT 1) AS tokens_before,
       (SELECT c.data ->> '$.usage.outputTokens' FROM events AS c
         WHERE c.type IN ('compaction/summary', 'compact/summary') AND c.session = r.owner
           AND c.seq BETWEEN r.last_seq AND r.seq
           AND (c.data ->> '$.compactionId' IS e.data ->> '$.source.compactionId' OR c.data ->> '$.compactionId' IS NULL)
         ORDER BY c.seq DESC LIMIT 1) AS tokens_after,
       (SELECT group_concat(block ->> '$.text', char(10))
          FROM (SELECT iif(type = 'object', value, '{}') AS block
                  FROM json_each(iif(e.data ->> '$.message.content[0].type' = 'tool-result',
                                     e.data -> '$.message.content[0].content',
                                     coalesce(e.data -> '$.message.content', e.data -> '$.content'))))
         WHERE block ->> '$.type' = 'text') AS summary
  FROM (SELECT s.id AS session, s.session_id, s.format_version, n.shadowed_by AS seq, g.owner,
               count(*) AS nodes, min(o.seq) AS first_seq, max(o.seq) AS last_seq,
               sum(length(coalesce(o.data -> '$.message.content', o.data -> '$.content'))) AS characters
          FROM sessions AS s
          JOIN segments AS g ON g.session = s.id
          JOIN surface_nodes AS n ON n.session = g.owner AND n.shadowed_by BETWEEN g.first_seq AND g.last_seq
          JOIN events AS o ON o.session = n.owner AND o.seq = n.seq
         GROUP BY s.id, s.session_id, s.format_version, n.shadowed_by, g.owner) AS r
 CROSS JOIN events AS e ON e.session = r.owner AND e.seq = r.seq AND e.type IN ('user/message', 'assistant/message', 'tool/result');
