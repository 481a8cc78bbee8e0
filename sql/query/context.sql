-- session: the session that is drawn
SELECT session_id, format_version, coalesce(title, first_prompt) AS title, model, events, inherited
  FROM sessions_overview WHERE session_id = :session_id;

-- calls: its provider calls that reported their usage, in the order of the log; those of a shared prefix too
SELECT u.seq, u.kind, u.input_tokens, u.cache_read_tokens, u.cache_write_tokens
  FROM current_sessions AS s
  JOIN segments AS g ON g.session = s.session
  JOIN usage AS u ON u.session = g.owner AND u.seq BETWEEN g.first_seq AND g.last_seq
 WHERE s.session_id = :session_id ORDER BY u.seq;

-- compactions: what took the place of what on its surface
SELECT seq, kind FROM compactions
 WHERE session_id = :session_id AND session = (SELECT session FROM current_sessions WHERE session_id = :session_id)
 ORDER BY seq;

-- tool_results: the characters of text in each result as it first came in
SELECT result_seq, name, coalesce(length(result), 0) FROM tool_calls
 WHERE session_id = :session_id AND session = (SELECT session FROM current_sessions WHERE session_id = :session_id)
   AND result_seq IS NOT NULL
 ORDER BY result_seq;
