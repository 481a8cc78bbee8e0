-- Before a session enters: its id, version and header are sound, it is new, and a fork stays within its parent.
CREATE TRIGGER sessions_insert BEFORE INSERT ON sessions
BEGIN
  SELECT CASE
    WHEN typeof(NEW.session_id) <> 'text' OR NEW.session_id = '' OR instr(NEW.session_id, char(0)) > 0
      THEN RAISE(ABORT, 'session-id-invalid')
    WHEN typeof(NEW.format_version) <> 'integer' OR NEW.format_version NOT BETWEEN 0 AND 4
      THEN RAISE(ABORT, 'format-version-invalid')
    WHEN typeof(NEW.created_at) <> 'integer' OR NEW.created_at NOT BETWEEN 0 AND 9007199254740991
      OR typeof(NEW.runtime) <> 'text' OR typeof(NEW.header) <> 'text'
      OR instr(NEW.header, char(0)) > 0 OR json_valid(NEW.header) IS NOT 1 -- which reads up to a NUL
      THEN RAISE(ABORT, 'header-invalid')
    WHEN json_type(NEW.header) <> 'object'
      OR (NEW.format_version < 2 AND json_type(NEW.header, '$.seedLength') IS NOT NULL
          AND (json_type(NEW.header, '$.seedLength') NOT IN ('integer', 'real')
            OR NEW.header ->> '$.seedLength' <> CAST(NEW.header ->> '$.seedLength' AS INTEGER)
            OR NEW.header ->> '$.seedLength' NOT BETWEEN 0 AND 9007199254740991))
      THEN RAISE(ABORT, 'header-invalid')
    WHEN EXISTS (SELECT 1 FROM sessions WHERE session_id = NEW.session_id AND format_version = NEW.format_version)
      OR EXISTS (SELECT 1 FROM sessions WHERE id = NEW.id)
      THEN RAISE(ABORT, 'session-exists')
    WHEN (NEW.forked_from IS NOT NULL OR NEW.forked_at IS NOT NULL) AND NOT EXISTS (
           SELECT 1 FROM session_bounds
            WHERE session = NEW.forked_from AND format_version = NEW.format_version
              AND typeof(NEW.forked_at) = 'integer' AND NEW.forked_at >= 0 AND NEW.forked_at < next_seq)
      THEN RAISE(ABORT, 'fork-beyond-parent')
  END;
END;
