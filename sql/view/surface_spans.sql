-- A procedure, never read: the span of positions that an entering event replaces is inserted here.
-- It keeps the frame of its trigger's program from all events that replace nothing, as surface_rules does.
CREATE VIEW surface_spans AS
SELECT 0 AS session, 0 AS seq, 0 AS first_pos, 0 AS last_pos WHERE 0;
