-- The nodes of the span are shadowed, and the event stands in the place of the first.
CREATE TRIGGER surface_spans_replace INSTEAD OF INSERT ON surface_spans
BEGIN
  UPDATE surface_nodes SET shadowed_by = NEW.seq
   WHERE session = NEW.session AND shadowed_by IS NULL AND pos BETWEEN NEW.first_pos AND NEW.last_pos;
  INSERT INTO surface_nodes (session, seq, pos, owner) VALUES (NEW.session, NEW.seq, NEW.first_pos, NEW.session);
  UPDATE sessions SET next_seq = NEW.seq + 1 WHERE id = NEW.session;
END;
