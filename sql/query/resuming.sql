-- live_nodes: the live nodes, with the payloads that later events may be held against
SELECT n.seq, n.pos, e.type, e.time,
       iif(e.type = 'tool/result' OR e.type = 'user/message', e.data, '{}'),
       iif(e.type = 'tool/result' OR e.type = 'user/message', e.raw, NULL)
  FROM surface_nodes AS n
  JOIN events AS e ON e.session = n.owner AND e.seq = n.seq
 WHERE n.session = :session AND n.shadowed_by IS NULL;
