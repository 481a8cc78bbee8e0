-- After an event entered that replaces a range: where on the surface the range begins and ends.
CREATE TRIGGER events_replace AFTER INSERT ON events
WHEN NEW.surface_op <> '"append"' AND NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1
BEGIN
  INSERT INTO surface_spans (session, seq, first_pos, last_pos)
  SELECT NEW.session, NEW.seq, a.pos, z.pos
    FROM surface_nodes AS a
    JOIN surface_nodes AS z ON z.session = a.session AND z.seq = coalesce(NEW.surface_op ->> '$.end', NEW.surface_op ->> '$.endSeq')
   WHERE a.session = NEW.session AND a.seq = coalesce(NEW.surface_op ->> '$.start', NEW.surface_op ->> '$.startSeq');
END;
