-- usage_by_session: tokens by session and model; the ids from :first to :last
SELECT session_id, provider, model, count(*) AS calls, sum(kind = 'attempt') AS failed,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
       sum(reasoning_tokens) AS reasoning_tokens
  FROM usage WHERE session_id BETWEEN :first AND :last GROUP BY 1, 2, 3 ORDER BY max(time) DESC, 1, 2, 3;

-- usage_by_day: tokens by day (UTC) and model
SELECT date(time / 1000, 'unixepoch') AS day, provider, model, count(*) AS calls, sum(kind = 'attempt') AS failed,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
       sum(reasoning_tokens) AS reasoning_tokens
  FROM usage WHERE session_id BETWEEN :first AND :last GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- usage_by_model: tokens by provider and model
SELECT provider, model, count(*) AS calls, sum(kind = 'attempt') AS failed,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
       sum(reasoning_tokens) AS reasoning_tokens
  FROM usage WHERE session_id BETWEEN :first AND :last GROUP BY 1, 2 ORDER BY 1, 2;

-- usage_by_project: tokens by working directory and model
SELECT c.cwd AS project, provider, model, count(*) AS calls, sum(kind = 'attempt') AS failed,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
       sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
       sum(reasoning_tokens) AS reasoning_tokens
  FROM usage AS u JOIN current_sessions AS c ON c.session = u.session
 WHERE u.session_id BETWEEN :first AND :last GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- tools: calls by tool, of sessions' own events alone unless :inherited; durations in ms
SELECT t.name AS tool, count(*) AS calls, sum(coalesce(t.is_error, 0) = 1) AS errors, sum(t.open) AS open,
       round(1.0 * sum(coalesce(t.is_error, 0) = 1) / nullif(sum(NOT t.open), 0), 3) AS error_rate,
       CAST(round(avg(t.duration)) AS INTEGER) AS mean_duration, max(t.duration) AS longest_duration,
       sum(t.duration) AS total_duration
  FROM tool_calls AS t JOIN current_sessions AS c ON c.session = t.session
 WHERE t.session_id BETWEEN :first AND :last AND (:inherited OR t.seq >= c.inherited_count)
 GROUP BY t.name ORDER BY calls DESC, tool;

-- compactions: what took the place of what, the latest first
SELECT t.session_id, t.seq, t.time, t.kind, t.nodes, t.first_seq, t.last_seq, t.characters_before, t.characters_after,
       t.tokens_before, t.tokens_after, t.compaction_id, t.summary
  FROM compactions AS t JOIN current_sessions AS c ON c.session = t.session
 WHERE t.session_id BETWEEN :first AND :last AND (:inherited OR t.seq >= c.inherited_count)
 ORDER BY t.time DESC, t.session_id, t.seq DESC;

-- overview: one session at a glance
SELECT * FROM sessions_overview WHERE session_id BETWEEN :first AND :last;
