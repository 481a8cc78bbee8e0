-- An event goes only with its session.
CREATE TRIGGER events_delete BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
  SELECT RAISE(ABORT, 'events-are-append-only');
END;
