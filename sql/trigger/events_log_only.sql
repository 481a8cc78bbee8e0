-- After an event entered that is not on the surface: the session is one event (or one run) longer, and a tagged end-seed marks the cut.
CREATE TRIGGER events_log_only AFTER INSERT ON events
WHEN NEW.surface_op IS NULL OR NOT NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1
BEGIN
  UPDATE sessions
     SET next_seq = NEW.seq + NEW.count,
         inherited_count = CASE
           WHEN NEW.type = 'session/end-seed' AND format_version >= 2 AND json_type(NEW.data, '$.inherited') IS 'true' THEN NEW.seq
           ELSE inherited_count END
   WHERE id = NEW.session;
END;
