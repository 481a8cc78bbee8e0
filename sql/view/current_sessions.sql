-- One row: one session, by its highest generation; whatever counts sessions counts these.
CREATE VIEW current_sessions AS
SELECT s.id AS session, s.session_id, s.format_version, s.created_at, s.runtime,
       (SELECT next_seq FROM session_bounds WHERE session = s.id) AS next_seq,
       (SELECT inherited_count FROM session_bounds WHERE session = s.id) AS inherited_count,
       s.cwd, s.parent_session, s.origin, s.delegation_depth, s.agent_preset
  FROM sessions AS s
 WHERE NOT EXISTS (
         SELECT 1 FROM sessions AS higher
          WHERE higher.session_id = s.session_id AND higher.format_version > s.format_version);
