-- A procedure, never read: an entering event that replaces a span of the surface is inserted here.
-- It keeps the frame of its trigger's program from all events that replace nothing, as surface_rules does.
CREATE VIEW surface_spans AS
SELECT 0 AS session, 0 AS seq, '' AS surface_op WHERE 0;
