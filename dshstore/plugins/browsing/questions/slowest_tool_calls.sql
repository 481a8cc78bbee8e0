-- Slowest tool calls: how long each took, in ms
SELECT session_id, format_version, seq, name, duration, is_error, error_code, arguments, result
  FROM tool_calls
 WHERE duration IS NOT NULL
 ORDER BY duration DESC
 LIMIT 100
