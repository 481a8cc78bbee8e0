-- An event is never changed.
CREATE TRIGGER events_update BEFORE UPDATE ON events
BEGIN
  SELECT RAISE(ABORT, 'events-are-append-only');
END;
