-- A session may go unless a fork still needs its rows.
CREATE TRIGGER sessions_delete BEFORE DELETE ON sessions
BEGIN
  SELECT RAISE(ABORT, 'session-has-forks') WHERE EXISTS (SELECT 1 FROM sessions WHERE forked_from = OLD.id);
END;
