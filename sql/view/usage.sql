-- One row: one call of a provider that reported what it used, failed attempts and compactions too; own events of the highest generation alone.
-- It is read session by session through the index of types, so that a condition on a session reads no other.
CREATE VIEW usage AS
SELECT session, session_id, format_version, seq, time, turn, step, kind, provider, model,
       coalesce(usage ->> '$.inputTokens', 0) AS input_tokens,
       coalesce(usage ->> '$.outputTokens', 0) AS output_tokens,
       coalesce(usage ->> '$.cacheReadTokens', 0) AS cache_read_tokens,
       coalesce(usage ->> '$.cacheWriteTokens', 0) AS cache_write_tokens,
       coalesce(usage ->> '$.reasoningTokens', 0) AS reasoning_tokens
  FROM (SELECT s.session, s.session_id, s.format_version, e.seq, e.time,
               e.data ->> '$.turn' AS turn, e.data ->> '$.step' AS step, 'message' AS kind,
               coalesce(e.data ->> '$.message.source.provider', e.data ->> '$.provenance.provider') AS provider,
               coalesce(e.data ->> '$.message.source.model', e.data ->> '$.provenance.model') AS model,
               e.data -> '$.usage' AS usage
          FROM current_sessions AS s
          CROSS JOIN events AS e INDEXED BY events_type
                  ON e.type = 'assistant/message' AND e.session = s.session AND e.seq >= s.inherited_count
        UNION ALL
        SELECT s.session, s.session_id, s.format_version, e.seq, e.time, NULL, NULL, 'compaction',
               e.data ->> '$.provider', e.data ->> '$.model', e.data -> '$.usage'
          FROM current_sessions AS s
          CROSS JOIN events AS e INDEXED BY events_type
                  ON e.type IN ('compaction/summary', 'compact/summary') AND e.session = s.session AND e.seq >= s.inherited_count
        UNION ALL
        SELECT session, session_id, format_version, seq, time, turn, step, 'attempt',
               config ->> '$.provider', config ->> '$.model', usage
          FROM (SELECT s.session, s.session_id, s.format_version, e.seq, e.time,
                       e.data ->> '$.turn' AS turn, e.data ->> '$.step' AS step,
                       (SELECT h.data -> '$.header.config'
                          FROM segments AS g
                          JOIN events AS h ON h.type = 'request/header' AND h.session = g.owner
                                          AND h.seq BETWEEN g.first_seq AND min(g.last_seq, e.seq)
                         WHERE g.session = s.session ORDER BY g.first_seq DESC, h.seq DESC LIMIT 1) AS config,
                       coalesce(p.usage, e.data -> '$.chunk.usage',
                                (SELECT value -> '$.chunk.usage' FROM json_each(e.data, '$.stream')
                                  WHERE type = 'object' AND value ->> '$.chunk.type' = 'usage'
                                  ORDER BY key DESC LIMIT 1)) AS usage
                  FROM current_sessions AS s
                  CROSS JOIN events AS e INDEXED BY events_type
                          ON e.type IN ('assistant/attempt', 'assistant/chunk') AND e.session = s.session AND e.seq >= s.inherited_count
                  LEFT JOIN streams AS p ON p.session = e.session AND p.seq = e.seq
                 WHERE e.type = 'assistant/attempt'
                    OR ((p.usage IS NOT NULL OR e.data ->> '$.chunk.type' = 'usage')
                        AND (SELECT type FROM events
                              WHERE session = s.session AND seq > e.seq
                                AND type IN ('assistant/message', 'llm/retry', 'step/end', 'turn/end', 'session/end-seed')
                              ORDER BY seq LIMIT 1) IS NOT 'assistant/message')))
 WHERE usage IS NOT NULL;
