-- One row: one attempt of a model at an answer, failed ones too: when its tokens came, how it ended, and what it cost.
CREATE VIEW attempts AS
SELECT s.id AS session, s.session_id, s.format_version, e.seq,
       e.data ->> '$.turn' AS turn, e.data ->> '$.step' AS step,
       iif(e.type = 'assistant/attempt', 'failed',
           iif(e.data ->> '$.interrupted', 'interrupted', 'message')) AS outcome,
       p.first_time, p.last_time, p.last_time - p.first_time AS duration, p.finish,
       coalesce(p.usage, e.data -> '$.usage') ->> '$.outputTokens' AS output_tokens
  FROM sessions AS s
  JOIN segments AS g ON g.session = s.id
  JOIN events AS e ON e.type IN ('assistant/message', 'assistant/attempt') AND e.session = g.owner
                  AND e.seq BETWEEN g.first_seq AND g.last_seq
  LEFT JOIN streams AS p ON p.session = e.session AND p.seq = e.seq
 WHERE s.format_version >= 2
UNION ALL
SELECT session, session_id, format_version, max(seq) AS seq, turn, step,
       iif(max(settled), 'message', 'failed') AS outcome,
       min(first_time) AS first_time, max(last_time) AS last_time, max(last_time) - min(first_time) AS duration,
       max(finish) AS finish, max(output_tokens) AS output_tokens
  FROM (SELECT s.id AS session, s.session_id, s.format_version, e.seq,
               e.data ->> '$.turn' AS turn, e.data ->> '$.step' AS step,
               coalesce(p.first_time, iif(e.type = 'assistant/chunk', e.time, NULL)) AS first_time,
               coalesce(p.last_time, iif(e.type = 'assistant/chunk', e.time, NULL)) AS last_time,
               coalesce(p.finish, e.data ->> '$.chunk.reason.kind') AS finish,
               coalesce(p.usage, e.data -> '$.chunk.usage', e.data -> '$.usage') ->> '$.outputTokens' AS output_tokens,
               e.type = 'assistant/message' AS settled,
               count(iif(e.type <> 'assistant/chunk', 1, NULL)) OVER (
                 PARTITION BY s.id, s.session_id, s.format_version
                 ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS attempt
          FROM sessions AS s
          JOIN segments AS g ON g.session = s.id
          JOIN events AS e ON e.type IN ('assistant/chunk', 'assistant/message', 'llm/retry', 'step/end', 'turn/end')
                          AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
          LEFT JOIN streams AS p ON p.session = e.session AND p.seq = e.seq
         WHERE s.format_version < 2)
 GROUP BY session, session_id, format_version, turn, step, attempt
HAVING min(first_time) IS NOT NULL OR max(settled);
