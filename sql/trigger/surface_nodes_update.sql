-- A node changes once: it is shadowed by the event that is entering.
CREATE TRIGGER surface_nodes_update BEFORE UPDATE ON surface_nodes
WHEN OLD.shadowed_by IS NOT NULL
  OR NEW.session <> OLD.session OR NEW.seq <> OLD.seq OR NEW.pos <> OLD.pos OR NEW.owner <> OLD.owner
  OR NEW.shadowed_by IS NOT (SELECT next_seq FROM sessions WHERE id = OLD.session)
  OR NOT EXISTS (SELECT 1 FROM events WHERE session = OLD.session AND seq = NEW.shadowed_by AND surface_op <> '"append"')
BEGIN
  SELECT RAISE(ABORT, 'surface-is-kept-by-triggers');
END;
