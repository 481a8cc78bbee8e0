-- Tokens by model and day: what went in and came out, UTC days
SELECT date(time / 1000, 'unixepoch') AS day, provider, model, count(*) AS calls,
       sum(kind = 'attempt') AS failed_calls, sum(input_tokens) AS input_tokens,
       sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
       sum(cache_write_tokens) AS cache_write_tokens, sum(reasoning_tokens) AS reasoning_tokens
  FROM usage
 GROUP BY day, provider, model
 ORDER BY day DESC, provider, model
