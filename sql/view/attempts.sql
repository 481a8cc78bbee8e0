-- One row: one attempt of a model at an answer, failed ones too: when its chunks came (epoch ms; delay and duration in ms), how it ended, and what it cost.
CREATE VIEW attempts AS
SELECT session, session_id, format_version, last_seq AS seq, turn, step,
       iif(type <> 'assistant/message', 'failed', iif(interrupted, 'interrupted', 'message')) AS outcome,
       requested, first_time, last_time, first_time - requested AS delay, last_time - first_time AS duration, finish, output_tokens,
       iif(last_time > first_time, 1000.0 * output_tokens / (last_time - first_time), NULL) AS tokens_per_second
  FROM (SELECT session, session_id, format_version, last_seq, type, is_part, turn, step, interrupted, closes,
               max(asked) OVER whole AS requested,
               max(iif(begins, first_chunk, NULL)) OVER whole AS first_time,
               max(iif(ends, last_chunk, NULL)) OVER whole AS last_time,
               max(reason) OVER whole AS finish,
               -- the usage of the last chunk that tells one, else that of the message
               substr(max(iif(usage IS NULL, NULL, printf('%016d', iif(type = 'assistant/message', 0, seq + 1)) || usage)) OVER whole, 17)
                 ->> '$.outputTokens' AS output_tokens
          FROM (SELECT *, sum(begins) OVER log AS attempt, lead(begins, 1, 1) OVER log AS closes,
                       lead(begins OR type <> 'assistant/chunk', 1, 1) OVER log AS ends
                  FROM (SELECT *, iif(lag(type) OVER log IN ('step/start', 'llm/retry-started'), lag(time) OVER log, NULL) AS asked,
                               NOT (is_part AND lag(type, 1, '') OVER log = 'assistant/chunk'
                                    AND coalesce(turn = lag(turn) OVER log, turn IS NULL AND lag(turn) OVER log IS NULL)
                                    AND coalesce(step = lag(step) OVER log, step IS NULL AND lag(step) OVER log IS NULL)
                                    AND iif(type = 'assistant/chunk', NOT lag(finished) OVER log, coalesce(sources <> '[]', 1))) AS begins
                          FROM (SELECT s.id AS session, s.session_id, s.format_version, e.seq, e.type, e.time,
                                       min(e.seq + e.count - 1, g.last_seq) AS last_seq,
                                       e.type IN ('assistant/chunk', 'assistant/message', 'assistant/attempt') AS is_part,
                                       e.data ->> '$.turn' AS turn, e.data ->> '$.step' AS step,
                                       (e.data -> '$.interrupted') = 'true' AS interrupted, e.source_event_seqs AS sources,
                                       coalesce(p.first_time, iif(e.type = 'assistant/chunk', e.time, NULL),
                                                e.data ->> '$.stream[0].time0', e.data ->> '$.stream[0].time') AS first_chunk,
                                       -- a run that a fork cuts short does not tell how far it goes
                                       iif(e.seq + e.count - 1 > g.last_seq, NULL,
                                           coalesce(p.last_time, iif(e.type = 'assistant/chunk', e.time, NULL), e.data ->> '$.stream[#-1].time',
                                                    (e.data ->> '$.stream[#-1].time0')
                                                    + coalesce((SELECT CAST(sum(value + 0.0) AS INTEGER)
                                                                  FROM json_each(e.data, '$.stream[#-1].dt')), 0))) AS last_chunk,
                                       iif(e.seq + e.count - 1 > g.last_seq, NULL,
                                           coalesce(p.finish, e.data ->> '$.chunk.reason.kind',
                                                    (SELECT value ->> '$.chunk.reason.kind' FROM json_each(e.data, '$.stream')
                                                      WHERE type = 'object' AND (value ->> '$.chunk.type') = 'finish'
                                                      ORDER BY key DESC LIMIT 1))) AS reason,
                                       p.finish IS NOT NULL OR coalesce((e.data ->> '$.chunk.type') = 'finish', 0) AS finished,
                                       iif(e.seq + e.count - 1 > g.last_seq, NULL,
                                           coalesce(p.usage, e.data -> '$.chunk.usage',
                                                    (SELECT value -> '$.chunk.usage' FROM json_each(e.data, '$.stream')
                                                      WHERE type = 'object' AND (value ->> '$.chunk.type') = 'usage'
                                                      ORDER BY key DESC LIMIT 1),
                                                    e.data -> '$.usage')) AS usage
                                  FROM sessions AS s
                                  JOIN segments AS g ON g.session = s.id
                                  JOIN events AS e ON e.type IN ('assistant/chunk', 'assistant/message', 'assistant/attempt', 'turn/start', 'turn/end',
                                                                 'step/start', 'step/end', 'llm/retry', 'llm/retry-started')
                                                  AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
                                  LEFT JOIN streams AS p ON p.session = e.session AND p.seq = e.seq)
                        WINDOW log AS (PARTITION BY session, session_id, format_version ORDER BY seq))
                WINDOW log AS (PARTITION BY session, session_id, format_version ORDER BY seq))
        WINDOW whole AS (PARTITION BY session, session_id, format_version, attempt))
 WHERE is_part AND closes;
