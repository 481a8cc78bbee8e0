-- One row: one call of a provider that reported what it used; own events of the highest generation alone, so each call is here once.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW usage AS
SELECT session, session_id, format_version, seq, time, turn, step, kind,
       CAST(coalesce(provider, requested ->> '$.provider') AS TEXT) AS provider, CAST(coalesce(model, requested ->> '$.model') AS TEXT) AS model,
       CAST(coalesce(usage ->> '$.inputTokens', 0) AS INTEGER) AS input_tokens,            -- those not read from a cache
       CAST(coalesce(usage ->> '$.outputTokens', 0) AS INTEGER) AS output_tokens,
       CAST(coalesce(usage ->> '$.cacheReadTokens', 0) AS INTEGER) AS cache_read_tokens,
       CAST(coalesce(usage ->> '$.cacheWriteTokens', 0) AS INTEGER) AS cache_write_tokens,
       CAST(coalesce(usage ->> '$.reasoningTokens', 0) AS INTEGER) AS reasoning_tokens     -- a part of the output
  FROM (SELECT s.session, s.session_id, s.format_version, e.seq, e.time,
               e.data ->> '$.turn' AS turn, e.data ->> '$.step' AS step,
               CASE e.type WHEN 'assistant/message' THEN 'message'
                           WHEN 'assistant/attempt' THEN 'attempt'
                           WHEN 'assistant/chunk' THEN
                             iif((SELECT n.type FROM events AS n
                                   WHERE n.session = e.session AND n.seq > e.seq
                                     AND n.type IN ('assistant/message', 'llm/retry', 'llm/retry-started', 'step/start', 'step/end',
                                                    'turn/start', 'turn/end', 'session/end-seed')
                                   ORDER BY n.seq LIMIT 1) = 'assistant/message', 'message', 'attempt')
                           ELSE 'compaction' END AS kind,
               coalesce(e.data ->> '$.message.source.provider', e.data ->> '$.provenance.provider', e.data ->> '$.provider') AS provider,
               coalesce(e.data ->> '$.message.source.model', e.data ->> '$.provenance.model', e.data ->> '$.model') AS model,
               (SELECT h.data -> '$.header.config' FROM segments AS g
                  JOIN events AS h ON h.type = 'request/header' AND h.session = g.owner
                                  AND h.seq BETWEEN g.first_seq AND min(g.last_seq, e.seq)
                 WHERE g.session = s.session ORDER BY g.first_seq DESC, h.seq DESC LIMIT 1) AS requested,
               CASE WHEN json_type(e.data, '$.usage') = 'object' THEN e.data -> '$.usage'
                    WHEN p.usage IS NOT NULL THEN p.usage
                    WHEN json_type(e.data, '$.chunk.usage') = 'object' THEN e.data -> '$.chunk.usage'
                    WHEN json_type(e.data, '$.stream') = 'array' THEN
                      (SELECT value -> '$.chunk.usage' FROM json_each(e.data, '$.stream')
                        WHERE iif(type = 'object', value ->> '$.chunk.type', NULL) = 'usage' ORDER BY key DESC LIMIT 1)
               END AS usage
          FROM current_sessions AS s
         CROSS JOIN (VALUES ('assistant/message'), ('assistant/attempt'), ('assistant/chunk'), ('compaction/summary'), ('compact/summary')) AS kinds
         CROSS JOIN events AS e
          LEFT JOIN streams AS p ON p.session = e.session AND p.seq = e.seq
         -- of the chunks of an attempt (v0, v1) the last that tell a usage count, and only when its message tells none
         WHERE e.type = kinds.column1 AND e.session = s.session AND e.seq >= s.inherited_count
           AND (e.type <> 'assistant/chunk'
                OR NOT coalesce(
                     (SELECT CASE n.type
                               WHEN 'assistant/message' THEN
                                 json_type(n.data, '$.usage') = 'object' AND coalesce(n.source_event_seqs <> '[]', 1)
                               WHEN 'assistant/chunk' THEN
                                 p.finish IS NULL
                                 AND NOT EXISTS (
                                       SELECT 1 FROM events AS f
                                        WHERE f.session = e.session AND f.seq > e.seq AND f.seq < n.seq
                                          AND f.type = 'assistant/chunk' AND (f.data ->> '$.chunk.type') = 'finish')
                             END
                             AND coalesce((n.data ->> '$.turn') = (e.data ->> '$.turn'), (n.data ->> '$.turn') IS NULL AND (e.data ->> '$.turn') IS NULL)
                             AND coalesce((n.data ->> '$.step') = (e.data ->> '$.step'), (n.data ->> '$.step') IS NULL AND (e.data ->> '$.step') IS NULL)
                        FROM events AS n
                        LEFT JOIN streams AS q ON q.session = n.session AND q.seq = n.seq
                       WHERE n.session = e.session AND n.seq > e.seq
                         AND (n.type IN ('assistant/message', 'llm/retry', 'llm/retry-started', 'step/start', 'step/end',
                                         'turn/start', 'turn/end', 'session/end-seed')
                              OR n.type = 'assistant/chunk'
                                 AND (q.usage IS NOT NULL OR json_type(n.data, '$.chunk.usage') = 'object'))
                       ORDER BY n.seq LIMIT 1), 0)))
 WHERE usage IS NOT NULL;
