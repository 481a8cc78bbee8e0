-- A procedure, never read: an event that is on the surface or claims to be is inserted here and refused with a code, or let pass.
-- Its trigger's program is entered for such events alone; the same text in a trigger on events would cost every other row its frame.
CREATE VIEW surface_rules AS
SELECT 0 AS session, 0 AS seq, '' AS type, '' AS data, '' AS source_event_seqs, '' AS surface_op, 0 AS ignorable,
       0 AS version,   -- the session's format version
       0 AS eligible   -- whether the type is a surface type in that version
 WHERE 0;
