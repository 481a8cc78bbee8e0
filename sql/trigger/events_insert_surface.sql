-- Before an event enters that is on the surface, or claims to be: the rules of the surface (see surface_rules).
-- Most append themselves and cite nothing, or one earlier event: there is nothing to be looked at but the seq, and events_insert does that.
CREATE TRIGGER events_insert_surface BEFORE INSERT ON events
WHEN (NEW.surface_op IS NOT NULL OR NEW.source_event_seqs IS NOT NULL OR NEW.surface_formats <> 0)
 AND NOT (NEW.surface_op IS '"append"'
          AND (NEW.source_event_seqs IS NULL
            OR (NEW.source_event_seqs = '[' || CAST(substr(NEW.source_event_seqs, 2) AS INTEGER) || ']'
                AND CAST(substr(NEW.source_event_seqs, 2) AS INTEGER) BETWEEN 0 AND NEW.seq - 1
                AND NEW.type <> 'assistant/message'))
          AND NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1)
BEGIN
  INSERT INTO surface_rules (session, seq, type, data, source_event_seqs, surface_op, ignorable, version, eligible)
  VALUES (NEW.session, NEW.seq, NEW.type,
          CASE WHEN NEW.surface_op IS NOT '"append"' THEN NEW.data END, -- it may be large, and an append is not compared
          NEW.source_event_seqs, NEW.surface_op, NEW.ignorable,
          (SELECT format_version FROM sessions WHERE id = NEW.session),
          NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1);
END;
