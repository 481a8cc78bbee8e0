-- One session at a glance, whichever generation: its own figures, and what is told of the highest
SELECT s.id AS session, s.session_id, s.format_version, b.next_seq AS events, b.inherited_count AS inherited, s.created_at,
       s.cwd AS project, s.parent_session, s.runtime, o.title, o.first_prompt, o.model, o.turns, o.tokens, o.open_turn,
       o.last_time, o.format_version AS highest
  FROM sessions AS s
  JOIN session_bounds AS b ON b.session = s.id
  JOIN sessions_overview AS o ON o.session_id = s.session_id
 WHERE s.id = :session
