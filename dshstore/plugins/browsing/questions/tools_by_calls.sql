-- Tools: how often they were called, failed, and how long they took
SELECT name, count(*) AS calls, sum(coalesce(is_error, 0) = 1) AS errors, sum(open) AS open_calls,
       CAST(round(avg(duration)) AS INTEGER) AS mean_duration, max(duration) AS longest_duration
  FROM tool_calls
 GROUP BY name
 ORDER BY calls DESC, name
