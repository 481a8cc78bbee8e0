-- After an event entered that appends itself to the surface: it is the last node.
CREATE TRIGGER events_append AFTER INSERT ON events
WHEN NEW.surface_op = '"append"' AND NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1
BEGIN
  INSERT INTO surface_nodes (session, seq, pos, owner) VALUES (NEW.session, NEW.seq, NEW.seq, NEW.session);
END;
