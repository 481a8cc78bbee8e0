-- A node changes once: it is shadowed by the event that just entered, the last, whose own node is still to come.
CREATE TRIGGER surface_nodes_update BEFORE UPDATE ON surface_nodes
WHEN OLD.shadowed_by IS NOT NULL
  OR NEW.session <> OLD.session OR NEW.seq <> OLD.seq OR NEW.pos <> OLD.pos OR NEW.owner <> OLD.owner
  OR NEW.shadowed_by IS NOT (SELECT seq FROM events WHERE session = OLD.session ORDER BY seq DESC LIMIT 1)
  OR EXISTS (SELECT 1 FROM surface_nodes WHERE session = OLD.session AND seq = NEW.shadowed_by)
  OR NOT EXISTS (
       SELECT 1 FROM sessions AS s JOIN events AS e ON e.session = s.id AND e.seq = NEW.shadowed_by
        WHERE s.id = OLD.session AND e.surface_op <> '"append"' AND e.surface_formats >> s.format_version & 1)
BEGIN
  SELECT RAISE(ABORT, 'surface-is-kept-by-triggers');
END;
