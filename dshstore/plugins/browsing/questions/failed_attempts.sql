-- Failed attempts: where a model broke off, and what came of it
SELECT session_id, format_version, seq, turn, step, outcome, finish, requested, delay, duration, output_tokens
  FROM attempts
 WHERE outcome <> 'message'
 ORDER BY requested DESC
