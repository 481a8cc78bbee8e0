-- sessions: the sessions that are searched, each with its end, how it came to be, and which of its events it has from a parent that is here
SELECT s.session, s.format_version, s.next_seq,
       json_array(s.session_id, s.format_version, s.created_at,
                  (SELECT json_array(i.sha256, i.imported_at) FROM imports AS i WHERE i.session = s.session ORDER BY i.id LIMIT 1)) AS born,
       iif(s.inherited_count > 0 AND EXISTS (SELECT 1 FROM sessions AS p WHERE p.session_id = s.parent_session), s.inherited_count, 0) AS own_from
  FROM current_sessions AS s
 WHERE :keys IS NULL OR s.session IN (SELECT value FROM json_each(:keys))
 ORDER BY s.session;

-- ends: the same in short
SELECT s.session, s.next_seq,
       iif(s.inherited_count > 0 AND EXISTS (SELECT 1 FROM sessions AS p WHERE p.session_id = s.parent_session), s.inherited_count, 0) AS own_from
  FROM current_sessions AS s;

-- latest: the rows that were written last
SELECT (SELECT max(rowid) FROM events) AS event, (SELECT max(id) FROM imports) AS import, (SELECT max(id) FROM sessions) AS session;

-- witness: what these rows hold
SELECT json_array(
         (SELECT json_array(session, seq, time, type, octet_length(data), substr(data, 1, 400)) FROM events WHERE rowid = :event),
         (SELECT json_array(sha256, imported_at) FROM imports WHERE id = :import),
         (SELECT json_array(session_id, format_version, created_at, header) FROM sessions WHERE id = :session));

-- last_events: the last event of its own that each of these sessions has before a seq: when, what, how long, how it begins
SELECT ended.value ->> 0 AS session,
       coalesce((SELECT json_array(e.seq, e.time, e.type, octet_length(e.data), substr(e.data, 1, 400))
                   FROM events AS e WHERE e.session = ended.value ->> 0 AND e.seq < ended.value ->> 1
                  ORDER BY e.seq DESC LIMIT 1), '') AS last
  FROM json_each(:ends) AS ended;

-- page: a page of a session's own events with texts; the unary plus keeps the log's order as the plan
SELECT e.seq, e.type, e.time, e.data, e.raw
  FROM events AS e
 WHERE e.session = :session AND e.seq >= :first AND e.seq < :end AND +e.type IN (SELECT value FROM json_each(:types))
 ORDER BY e.seq LIMIT :page;
