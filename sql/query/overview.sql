-- sessions: the sessions, the youngest first
SELECT session, session_id, format_version, title, first_prompt, project, runtime, model, turns, events, inherited,
       surface_nodes, first_time, last_time, created_at, parent_session, open_turn
  FROM sessions_overview ORDER BY coalesce(last_time, created_at) DESC, session DESC;

-- generations: every generation that is here
SELECT session_id, format_version FROM sessions ORDER BY session_id, format_version;

-- counts: what a store holds
SELECT (SELECT count(DISTINCT session_id) FROM sessions) AS sessions,
       (SELECT count(*) FROM sessions) AS generations,
       (SELECT coalesce(sum(count), 0) FROM events) AS events,
       (SELECT count(*) FROM events) AS rows,
       (SELECT count(*) FROM imports) AS imports,
       (SELECT count(*) FROM quarantine) AS quarantined,
       sqlite_version() AS sqlite_version;
