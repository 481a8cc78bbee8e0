-- A stream goes only with its session.
CREATE TRIGGER streams_delete BEFORE DELETE ON streams
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
  SELECT RAISE(ABORT, 'events-are-append-only');
END;
