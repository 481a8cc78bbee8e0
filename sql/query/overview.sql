-- sessions: the sessions that fit, the youngest first; only those that are told of are looked into (their tokens take longest)
WITH chosen AS MATERIALIZED (
  SELECT session, coalesce(last_time, created_at) AS written
    FROM sessions_overview AS o
   WHERE (:project IS NULL OR project = :project
          OR substr(project, 1, length(rtrim(:project, '/')) + 1) = rtrim(:project, '/') || '/')
     AND (:since IS NULL OR coalesce(last_time, created_at) >= :since)
     AND (:model IS NULL OR instr(lower(model), lower(:model)))
     AND (:text IS NULL OR EXISTS (
           SELECT 1 FROM segments AS g
            CROSS JOIN events AS e INDEXED BY events_type -- in this order: else each session reads those of all
               ON e.type IN ('user/message', 'assistant/message', 'session/title') AND e.session = g.owner
              AND e.seq BETWEEN g.first_seq AND g.last_seq
            WHERE g.session = o.session AND instr(lower(e.data), lower(:text))))
   ORDER BY written DESC, session DESC LIMIT :limit)
SELECT o.session, session_id, format_version, title, first_prompt, project, runtime, model, turns, events, inherited,
       tokens, surface_nodes, first_time, last_time, created_at, parent_session, open_turn
  FROM chosen CROSS JOIN sessions_overview AS o ON o.session = chosen.session
 ORDER BY written DESC, o.session DESC;

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
