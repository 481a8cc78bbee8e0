-- integrity: what SQLite itself finds wrong with the file
PRAGMA integrity_check;

-- broken_references: rows of ours that refer to a row that is not there
SELECT "table", rowid, parent FROM pragma_foreign_key_check
 WHERE "table" IN ('sessions', 'segments', 'events', 'surface_nodes', 'imports');

-- lost_streams: packed parts without their event
SELECT t.session, s.session_id, t.seq
  FROM streams AS t
  LEFT JOIN sessions AS s ON s.id = t.session
 WHERE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.session = t.session AND e.seq = t.seq);

-- broken_pieces: pieces in quarantine that lost their import, or bytes
SELECT q.id, s.session_id, i.id, q.kind, q.size, length(q.raw)
  FROM quarantine AS q
  LEFT JOIN imports AS i ON i.id = q.import
  LEFT JOIN sessions AS s ON s.id = i.session
 WHERE i.id IS NULL OR q.kind NOT IN ('record', 'debris', 'padding')
    OR (q.raw IS NULL) <> (q.kind = 'padding') OR length(q.raw) <> q.size;

-- keys: every session, by its number
SELECT id FROM sessions ORDER BY id;

-- owners: a session and those whose events it shares
SELECT owner FROM segments WHERE session = :session
 UNION SELECT :session ORDER BY 1;

-- generations: how many generations of a session are here
SELECT count(*) FROM sessions WHERE session_id = (SELECT session_id FROM sessions WHERE id = :session);

-- segments: the parts of a session's log, in order, and whether their owners are there
SELECT first_seq, last_seq, owner, EXISTS (SELECT 1 FROM sessions WHERE id = owner)
  FROM segments WHERE session = :session ORDER BY first_seq;

-- shared_segments: the parts of its parent's log that a fork shares
SELECT g.first_seq, min(g.last_seq, s.forked_at), g.owner
  FROM sessions AS s
  JOIN segments AS g ON g.session = s.forked_from AND g.first_seq <= s.forked_at
 WHERE s.id = :session ORDER BY g.first_seq;

-- page_end: the last row of the next page, which is of few rows or few bytes; what was appended since :limit is left out
SELECT coalesce(max(iif(size <= :bytes, seq, NULL)), min(seq))
  FROM (SELECT seq, sum(size) OVER (ORDER BY seq) AS size
          FROM (SELECT e.seq, octet_length(e.data) + coalesce(octet_length(e.raw), 0) AS size
                  FROM events AS e
                 WHERE e.session = :owner AND e.seq > :after AND e.seq <= :last
                   AND e.seq < :limit
                 ORDER BY e.seq LIMIT :page));

-- page: the rows up to there, with their packed parts
SELECT e.seq, e.count, e.type, e.time, e.data, e.source_event_seqs, e.surface_op, e.ignorable, e.raw,
       s.at, s.size, s.body, s.first_time, s.last_time, s.usage, s.finish
  FROM events AS e
  LEFT JOIN streams AS s ON s.session = e.session AND s.seq = e.seq
 WHERE e.session = :owner AND e.seq > :after AND e.seq <= :upto
   AND e.seq < :limit
 ORDER BY e.seq;

-- nodes: a page of the surface that the store keeps, as it was before event :limit
SELECT n.seq, n.pos,
       iif(n.shadowed_by >= :limit AND n.shadowed_by < s.next_seq, NULL, n.shadowed_by), n.owner
  FROM surface_nodes AS n
  JOIN session_bounds AS s ON s.session = n.session
 WHERE n.session = :session AND n.seq > :after AND (n.seq < :limit OR n.seq >= s.next_seq)
 ORDER BY n.seq LIMIT :page;

-- imports: what was put on record of the logs of a session, by how far they were read
SELECT id, lines, events, content_sha256 FROM imports
 WHERE session = :session AND (lines <> 0 OR events <> 0) ORDER BY events, id;
