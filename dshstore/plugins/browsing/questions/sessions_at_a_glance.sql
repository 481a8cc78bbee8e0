-- Sessions at a glance: the latest first
SELECT session_id, format_version, title, first_prompt, project, model, turns, events, tokens, last_time, open_turn
  FROM sessions_overview
 ORDER BY last_time DESC
