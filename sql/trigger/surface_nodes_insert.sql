-- A node joins the surface only as that of the last event, which just entered, or while its fork is being made (its own segment is missing).
CREATE TRIGGER surface_nodes_insert BEFORE INSERT ON surface_nodes
WHEN NEW.shadowed_by IS NOT NULL
  OR EXISTS (SELECT 1 FROM surface_nodes WHERE session = NEW.session AND seq = NEW.seq)
  OR NOT EXISTS (
       SELECT 1 FROM sessions AS s
        WHERE s.id = NEW.session
          AND ((NEW.owner = NEW.session AND EXISTS (
                  SELECT 1 FROM events AS e
                   WHERE e.session = NEW.session AND e.seq = NEW.seq AND e.surface_formats >> s.format_version & 1
                     AND (e.surface_op = '"append"') = (NEW.pos = NEW.seq)
                     AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.session = NEW.session AND later.seq > NEW.seq)))
            OR (NOT EXISTS (SELECT 1 FROM segments WHERE session = NEW.session AND owner = NEW.session) AND EXISTS (
                  SELECT 1 FROM segments AS g
                    JOIN surface_nodes AS n ON n.session = g.owner AND n.seq = NEW.seq
                   WHERE g.session = s.forked_from AND s.forked_at BETWEEN g.first_seq AND g.last_seq
                     AND n.seq <= s.forked_at AND n.pos = NEW.pos AND n.owner = NEW.owner
                     AND (n.shadowed_by IS NULL OR n.shadowed_by > s.forked_at)))))
BEGIN
  SELECT RAISE(ABORT, 'surface-is-kept-by-triggers');
END;
