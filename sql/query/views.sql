-- The documented views whole, or of the sessions whose numbers lie between :first and :last.

-- sessions_overview: each session at a glance
SELECT * FROM sessions_overview WHERE session BETWEEN :first AND :last;

-- current_sessions: each session by its highest generation
SELECT * FROM current_sessions WHERE session BETWEEN :first AND :last;

-- session_bounds: how many events each generation of a session has
SELECT * FROM session_bounds WHERE session BETWEEN :first AND :last;

-- forks: each fork
SELECT * FROM forks WHERE session BETWEEN :first AND :last;

-- turns: each turn
SELECT * FROM turns WHERE session BETWEEN :first AND :last;

-- steps: each step of a turn
SELECT * FROM steps WHERE session BETWEEN :first AND :last;

-- messages: each message that a model sees now
SELECT * FROM messages WHERE session BETWEEN :first AND :last;

-- surface: each node of a surface
SELECT * FROM surface WHERE session BETWEEN :first AND :last;

-- shadowed: each node that is no longer on one
SELECT * FROM shadowed WHERE session BETWEEN :first AND :last;

-- event_log: each event, or run, of each session's whole log
SELECT * FROM event_log WHERE session BETWEEN :first AND :last;

-- tool_calls: each tool call with its result
SELECT * FROM tool_calls WHERE session BETWEEN :first AND :last;

-- attempts: each attempt of a model
SELECT * FROM attempts WHERE session BETWEEN :first AND :last;

-- usage: each provider call that told its usage
SELECT * FROM usage WHERE session BETWEEN :first AND :last;

-- compactions: each message that took the place of others
SELECT * FROM compactions WHERE session BETWEEN :first AND :last;

-- provenance: each citation
SELECT * FROM provenance WHERE session BETWEEN :first AND :last;

-- event_types: the types that the formats know, whatever the sessions
SELECT * FROM event_types WHERE :first <= :last;
