-- One row: one generation of one session: the seq of its next event, which is how many it has, and how many of them are inherited.
-- Both are read off its events: kept in `sessions`, they would have to be written, and guarded, with every event that enters.
CREATE VIEW session_bounds AS
SELECT s.id AS session, s.session_id, s.format_version,
       coalesce((SELECT e.seq + e.count FROM events AS e WHERE e.session = s.id ORDER BY e.seq DESC LIMIT 1),
                s.forked_at + 1, 0) AS next_seq,
       -- up to the last tagged end-seed, the boundary of a fork, or where the header of an old format says
       coalesce((SELECT max(e.seq) FROM events AS e
                  WHERE e.type = 'session/end-seed' AND e.session = s.id AND s.format_version >= 2
                    AND CASE WHEN json_valid(e.data) THEN e.data -> '$.inherited' END = 'true'),
                s.forked_at + 1,
                CASE WHEN s.format_version < 2 AND json_valid(s.header) THEN CAST(s.header ->> '$.seedLength' AS INTEGER) END,
                0) AS inherited_count
  FROM sessions AS s;
