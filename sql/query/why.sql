-- is_live: whether an event is on the surface now
SELECT 1 FROM surface_nodes WHERE session = :session AND seq = :seq AND shadowed_by IS NULL;

-- shadower: the event that took the place of another
SELECT shadowed_by FROM shadowed WHERE session = :session AND seq = :seq;

-- shadowed: the events whose place another took, in the order in which they stood
SELECT n.seq
  FROM segments AS g
  JOIN surface_nodes AS n ON n.session = g.owner AND n.shadowed_by = :seq
 WHERE g.session = :session AND :seq BETWEEN g.first_seq AND g.last_seq ORDER BY n.pos;

-- citing: the events that were made of another
SELECT seq FROM provenance WHERE session = :session AND seq > :seq AND source_seq = :seq ORDER BY seq;

-- call: the last start of a tool call before an event
SELECT e.seq
  FROM segments AS g
  JOIN events AS e ON e.type = 'tool/call' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND min(g.last_seq, :seq)
 WHERE g.session = :session AND e.data ->> '$.callId' = :call_id
 ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1;

-- message: the last assistant message before an event that announced a tool call
SELECT e.seq
  FROM segments AS g
  JOIN events AS e ON e.type = 'assistant/message' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND min(g.last_seq, :seq)
 WHERE g.session = :session
   AND EXISTS (
         SELECT 1 FROM (SELECT iif(type = 'object', value, '{}') AS block
                          FROM json_each(coalesce(e.data -> '$.message.content', e.data -> '$.content')))
          WHERE block ->> '$.type' = 'tool-call' AND block ->> '$.id' = :call_id)
 ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1;
