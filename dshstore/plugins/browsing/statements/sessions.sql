-- A page of sessions, the latest first; :text is looked for in what the list shows
SELECT session, session_id, format_version, title, first_prompt, project, model, turns, events, tokens,
       surface_nodes, first_time, last_time, parent_session, open_turn
  FROM sessions_overview
 WHERE session IN (SELECT session
                     FROM sessions_overview
                    WHERE :text = '' OR instr(lower(session_id || ' ' || coalesce(title, '') || ' ' || coalesce(first_prompt, '')
                                                      || ' ' || coalesce(project, '') || ' ' || coalesce(model, '')),
                                                lower(:text))
                    ORDER BY last_time DESC, session_id LIMIT :size OFFSET :skipped)
 ORDER BY last_time DESC, session_id
