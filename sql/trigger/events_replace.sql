-- After an event entered that replaces a range of the surface (see surface_spans).
CREATE TRIGGER events_replace AFTER INSERT ON events
WHEN NEW.surface_op <> '"append"' AND NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1
BEGIN
  INSERT INTO surface_spans (session, seq, surface_op) VALUES (NEW.session, NEW.seq, NEW.surface_op);
END;
