-- One row: one known event type and the log formats that know it.
CREATE VIEW event_types AS
SELECT '' AS type, 0 AS since, 4 AS until WHERE 0;
