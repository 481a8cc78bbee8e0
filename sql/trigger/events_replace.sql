-- After an event entered that replaces a range: the range is shadowed, and the event stands in the place of its first node.
CREATE TRIGGER events_replace AFTER INSERT ON events
WHEN NEW.surface_op <> '"append"' AND NEW.surface_formats >> (SELECT format_version FROM sessions WHERE id = NEW.session) & 1
BEGIN
  UPDATE surface_nodes SET shadowed_by = NEW.seq
   WHERE session = NEW.session AND shadowed_by IS NULL
     AND pos BETWEEN (SELECT pos FROM surface_nodes WHERE session = NEW.session
                         AND seq = coalesce(NEW.surface_op ->> '$.start', NEW.surface_op ->> '$.startSeq'))
                 AND (SELECT pos FROM surface_nodes WHERE session = NEW.session
                         AND seq = coalesce(NEW.surface_op ->> '$.end', NEW.surface_op ->> '$.endSeq'));
  INSERT INTO surface_nodes (session, seq, pos, owner)
  SELECT NEW.session, NEW.seq, pos, NEW.session FROM surface_nodes
   WHERE session = NEW.session AND seq = coalesce(NEW.surface_op ->> '$.start', NEW.surface_op ->> '$.startSeq');
  UPDATE sessions SET next_seq = NEW.seq + 1 WHERE id = NEW.session;
END;
