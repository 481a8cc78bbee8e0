-- One row: one event, or one run, of a session's whole log, inherited parts included; ORDER BY part, seq is the log's order.
CREATE VIEW event_log AS
SELECT s.id AS session, s.session_id, s.format_version,
       g.first_seq AS part, e.seq, min(e.count, g.last_seq - e.seq + 1) AS count, e.type, e.time, e.data,
       e.source_event_seqs, e.surface_op, e.ignorable, g.owner
  FROM sessions AS s CROSS JOIN segments AS g CROSS JOIN events AS e -- in this order, whatever else is asked for
 WHERE g.session = s.id AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq;
