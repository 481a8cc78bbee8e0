-- A stream is never changed.
CREATE TRIGGER streams_update BEFORE UPDATE ON streams
BEGIN
  SELECT RAISE(ABORT, 'events-are-append-only');
END;
