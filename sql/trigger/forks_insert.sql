-- A fork is a session of its parent's format.
CREATE TRIGGER forks_insert INSTEAD OF INSERT ON forks
BEGIN
  SELECT RAISE(ABORT, 'fork-beyond-parent') WHERE NEW.at IS NULL OR NOT EXISTS (SELECT 1 FROM sessions WHERE id = NEW.parent);
  INSERT INTO sessions (session_id, format_version, created_at, header, forked_from, forked_at)
  SELECT NEW.session_id, format_version, NEW.created_at, NEW.header, NEW.parent, NEW.at FROM sessions WHERE id = NEW.parent;
END;
