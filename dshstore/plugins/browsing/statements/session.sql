-- The generation of a session that is asked for (:version), or the highest
SELECT id, session_id, format_version
  FROM sessions
 WHERE session_id = :session_id AND (:version IS NULL OR format_version = :version)
 ORDER BY format_version DESC LIMIT 1
