-- The nodes of the span are shadowed, and the event stands in the place of the first.
CREATE TRIGGER surface_spans_replace INSTEAD OF INSERT ON surface_spans
BEGIN
  UPDATE surface_nodes SET shadowed_by = NEW.seq
   WHERE session = NEW.session AND shadowed_by IS NULL
     AND pos BETWEEN (SELECT pos FROM surface_nodes
                       WHERE session = NEW.session AND seq = coalesce(NEW.surface_op ->> '$.start', NEW.surface_op ->> '$.startSeq'))
                 AND (SELECT pos FROM surface_nodes
                       WHERE session = NEW.session AND seq = coalesce(NEW.surface_op ->> '$.end', NEW.surface_op ->> '$.endSeq'));
  INSERT INTO surface_nodes (session, seq, pos, owner)
  VALUES (NEW.session, NEW.seq,
          (SELECT pos FROM surface_nodes
            WHERE session = NEW.session AND seq = coalesce(NEW.surface_op ->> '$.start', NEW.surface_op ->> '$.startSeq')),
          NEW.session);
END;
