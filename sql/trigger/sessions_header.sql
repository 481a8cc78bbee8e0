-- The columns that repeat members of the header say what it says.
CREATE TRIGGER sessions_header BEFORE UPDATE OF cwd, parent_session, origin, delegation_depth, agent_preset ON sessions
WHEN NEW.cwd              IS NOT CAST(OLD.header ->> '$.cwd' AS TEXT)
  OR NEW.parent_session   IS NOT CAST(OLD.header ->> '$.parentSession' AS TEXT)
  OR NEW.origin           IS NOT CAST(OLD.header ->> '$.origin' AS TEXT)
  OR NEW.delegation_depth IS NOT CAST(OLD.header ->> '$.delegationDepth' AS INTEGER)
  OR NEW.agent_preset     IS NOT CAST(OLD.header ->> '$.agentPreset' AS TEXT)
BEGIN
  SELECT RAISE(ABORT, 'session-identity-is-fixed');
END;
