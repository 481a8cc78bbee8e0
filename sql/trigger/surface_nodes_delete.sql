-- A node goes only with its session.
CREATE TRIGGER surface_nodes_delete BEFORE DELETE ON surface_nodes
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
  SELECT RAISE(ABORT, 'surface-is-kept-by-triggers');
END;
