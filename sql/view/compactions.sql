-- One row: one message that took the place of several on the surface: how many, how long they were and it is, and what it says.
CREATE VIEW compactions AS
SELECT s.id AS session, s.session_id, s.format_version, e.seq, e.time, e.type,
       count(*) AS nodes,
       sum(length(o.data)) AS characters_before, length(e.data) AS characters_after,
       e.data ->> '$.source.compactionId' AS compaction_id,
       iif(e.type = 'user/message', e.data ->> '$.content[0].text', e.data ->> '$.message.content[0].text') AS summary
  FROM sessions AS s
  JOIN surface_nodes AS n ON n.session = s.id AND n.shadowed_by IS NOT NULL
  JOIN events AS o ON o.session = n.owner AND o.seq = n.seq
  JOIN events AS e ON e.session = s.id AND e.seq = n.shadowed_by AND e.type IN ('user/message', 'assistant/message')
 GROUP BY s.id, s.session_id, s.format_version, e.seq;
