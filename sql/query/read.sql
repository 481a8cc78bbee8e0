-- Of session_bounds one column at a time: SQLite makes anew the plan of a join with it at each call.

-- session_by_key: one generation of a session, by its number
SELECT s.id, s.session_id, s.format_version, s.created_at, s.header, s.header_raw, s.runtime,
       (SELECT next_seq FROM session_bounds WHERE session = s.id), (SELECT inherited_count FROM session_bounds WHERE session = s.id),
       s.forked_from, s.forked_at
  FROM sessions AS s
 WHERE s.id = :key;

-- session_by_id: the generations of one session, the highest first
SELECT s.id, s.session_id, s.format_version, s.created_at, s.header, s.header_raw, s.runtime,
       (SELECT next_seq FROM session_bounds WHERE session = s.id), (SELECT inherited_count FROM session_bounds WHERE session = s.id),
       s.forked_from, s.forked_at
  FROM sessions AS s
 WHERE s.session_id = :session_id ORDER BY s.format_version DESC;

-- session_by_prefix: the generations of all sessions whose id begins so
SELECT s.id, s.session_id, s.format_version, s.created_at, s.header, s.header_raw, s.runtime,
       (SELECT next_seq FROM session_bounds WHERE session = s.id), (SELECT inherited_count FROM session_bounds WHERE session = s.id),
       s.forked_from, s.forked_at
  FROM sessions AS s
 WHERE substr(s.session_id, 1, length(:prefix)) = :prefix ORDER BY s.session_id, s.format_version DESC;

-- segments: the parts of a session's log, in order
SELECT first_seq, last_seq, owner FROM segments WHERE session = :session ORDER BY first_seq;

-- rows: a page of one owner's rows, with their packed parts
SELECT e.seq, e.count, e.type, e.time, e.data, e.source_event_seqs, e.surface_op, e.ignorable, e.raw,
       s.at, s.size, s.body, s.first_time, s.last_time, s.usage, s.finish
  FROM events AS e
  LEFT JOIN streams AS s ON s.session = e.session AND s.seq = e.seq
 WHERE e.session = :owner AND e.seq >= :first AND e.seq <= :last
 ORDER BY e.seq LIMIT :page;

-- rows_of_type: a page of one owner's rows of one type
SELECT e.seq, e.count, e.type, e.time, e.data, e.source_event_seqs, e.surface_op, e.ignorable, e.raw,
       s.at, s.size, s.body, s.first_time, s.last_time, s.usage, s.finish
  FROM events AS e INDEXED BY events_type -- the planner would rather read every row
  LEFT JOIN streams AS s ON s.session = e.session AND s.seq = e.seq
 WHERE e.type = :type AND e.session = :owner AND e.seq >= :first AND e.seq <= :last
 ORDER BY e.seq LIMIT :page;

-- row_at: the seq of the row that holds one event
SELECT max(seq) FROM events WHERE session = :owner AND seq <= :seq;

-- surface_now: the live nodes
SELECT seq FROM surface_nodes WHERE session = :session AND shadowed_by IS NULL ORDER BY pos;

-- surface_at: the nodes that were live after an event
SELECT n.seq
  FROM segments AS g
  JOIN surface_nodes AS n ON n.session = g.owner
 WHERE g.session = :session AND :at BETWEEN g.first_seq AND g.last_seq
   AND n.seq <= :at AND (n.shadowed_by IS NULL OR n.shadowed_by > :at)
 ORDER BY n.pos;

-- messages_now: the events of the live nodes, with what only the oldest format is asked for
SELECT e.seq, e.type, CAST(e.data AS BLOB), e.raw,
       CASE WHEN :version = 0 THEN e.time END, CASE WHEN :version = 0 THEN e.surface_op END
  FROM surface_nodes AS n
  JOIN events AS e ON e.session = n.owner AND e.seq = n.seq
 WHERE n.session = :session AND n.shadowed_by IS NULL ORDER BY n.pos;

-- messages_at: the events of the nodes that were live after an event
SELECT e.seq, e.type, CAST(e.data AS BLOB), e.raw,
       CASE WHEN :version = 0 THEN e.time END, CASE WHEN :version = 0 THEN e.surface_op END
  FROM segments AS g
  JOIN surface_nodes AS n ON n.session = g.owner
  JOIN events AS e ON e.session = n.owner AND e.seq = n.seq
 WHERE g.session = :session AND :at BETWEEN g.first_seq AND g.last_seq
   AND n.seq <= :at AND (n.shadowed_by IS NULL OR n.shadowed_by > :at)
 ORDER BY n.pos;

-- types_present: the event types of the store, each with its first event in one part of a log (NULL where it has none), found by skipping through the index
WITH RECURSIVE types (type) AS (
  SELECT min(type) FROM events
  UNION ALL
  SELECT (SELECT type FROM events WHERE type > types.type ORDER BY type LIMIT 1) FROM types WHERE types.type IS NOT NULL)
SELECT type, (SELECT min(e.seq) FROM events AS e
               WHERE e.type = types.type AND e.session = :owner AND e.seq BETWEEN :first AND :last
                 AND e.ignorable IS NULL) AS seq
  FROM types WHERE type IS NOT NULL;

-- last_of_type: the last event of one type
SELECT e.seq
  FROM segments AS g
  JOIN events AS e ON e.type = :type AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
 WHERE g.session = :session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1;
