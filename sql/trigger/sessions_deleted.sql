-- With a session goes everything that is its own; what was imported stays on record.
CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions
BEGIN
  DELETE FROM surface_nodes WHERE session = OLD.id;
  DELETE FROM streams WHERE session = OLD.id;
  DELETE FROM events WHERE session = OLD.id;
  DELETE FROM segments WHERE session = OLD.id;
  UPDATE imports SET session = NULL WHERE session = OLD.id;
END;
