-- live_nodes: the live nodes, with the payloads that later events may be held against
SELECT n.seq, n.pos, e.type, e.time,
       iif(e.type = 'tool/result' OR e.type = 'user/message', e.data, '{}'),
       iif(e.type = 'tool/result' OR e.type = 'user/message', e.raw, NULL)
  FROM surface_nodes AS n
  JOIN events AS e ON e.session = n.owner AND e.seq = n.seq
 WHERE n.session = :session AND n.shadowed_by IS NULL;

-- last_event: the last event of one type
SELECT e.seq, e.count, e.type, e.time, e.data, e.source_event_seqs, e.surface_op, e.ignorable, e.raw
  FROM segments AS g
  JOIN events AS e ON e.type = :type AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND g.last_seq
 WHERE g.session = :session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1;
