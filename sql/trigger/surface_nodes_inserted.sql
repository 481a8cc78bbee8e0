-- After an event's node joined the surface (no inherited node is its own): the session is one event longer.
CREATE TRIGGER surface_nodes_inserted AFTER INSERT ON surface_nodes
WHEN NEW.owner = NEW.session
BEGIN
  UPDATE sessions SET next_seq = NEW.seq + 1 WHERE id = NEW.session;
END;
