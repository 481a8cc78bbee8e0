-- entries: a page of one owner's rows that a reader cares for, chunks left out; the unary plus keeps the log's order as the plan
SELECT e.seq, e.type, e.time, e.data, e.surface_op,
       (SELECT finish FROM streams WHERE e.type = 'assistant/attempt' AND session = e.session AND seq = e.seq) AS finish
  FROM events AS e
 WHERE e.session = :owner AND e.seq BETWEEN :first AND :last
   AND +e.type IN ('user/message', 'assistant/message', 'tool/result', 'system/message', 'developer/message', 'steering/message',
                   'context/message', 'assistant/attempt', 'tool/call', 'llm/retry', 'turn/start', 'turn/end', 'compaction/end',
                   'compact/end', 'session/end-seed', 'image/offload', 'approval/asked', 'approval/decided')
 ORDER BY e.seq LIMIT :page;

-- page_starts: the first event of each page of :size entries up to :at; the types are those above
SELECT seq
  FROM (SELECT e.seq, row_number() OVER (ORDER BY e.seq) - 1 AS place
          FROM segments AS g
          JOIN events AS e INDEXED BY events_type -- it holds all that is asked for
            ON e.type IN ('user/message', 'assistant/message', 'tool/result', 'system/message', 'developer/message', 'steering/message',
                          'context/message', 'assistant/attempt', 'tool/call', 'llm/retry', 'turn/start', 'turn/end', 'compaction/end',
                          'compact/end', 'session/end-seed', 'image/offload', 'approval/asked', 'approval/decided')
           AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND min(g.last_seq, :at)
         WHERE g.session = :session)
 WHERE place % :size = 0 ORDER BY seq;

-- nth_last_node: the event that was the nth last to join the surface, up to :at
SELECT n.seq
  FROM segments AS g
  JOIN surface_nodes AS n ON n.session = g.owner AND n.seq BETWEEN g.first_seq AND min(g.last_seq, :at)
 WHERE g.session = :session ORDER BY g.first_seq DESC, n.seq DESC LIMIT 1 OFFSET :skipped;

-- shadowed: which nodes from :first on had lost their place by :at
SELECT seq, shadowed_by FROM shadowed WHERE session = :session AND seq >= :first AND shadowed_by <= :at;

-- replacements: whose place each event took, from :first on
SELECT shadowed_by, count(*), min(seq), max(seq) FROM shadowed
 WHERE session = :session AND shadowed_by BETWEEN :first AND :at GROUP BY shadowed_by;
