-- last_key: the highest number that a session ever had; anyone may have emptied the table of SQLite that keeps it
SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'sessions'), 0),
           coalesce((SELECT max(id) FROM sessions), 0));

-- next_seq: where a session ends
SELECT next_seq FROM session_bounds WHERE session = :key;

-- insert_session: a session begins
INSERT INTO sessions (id, session_id, format_version, created_at, header, header_raw, runtime, forked_from, forked_at)
VALUES (:id, :session_id, :format_version, :created_at, :header, :header_raw, :runtime, :forked_from, :forked_at);

-- insert_event: an event, or a run, enters
INSERT INTO events (session, seq, count, type, time, data, source_event_seqs, surface_op, ignorable, raw)
VALUES (:session, :seq, :count, :type, :time, :data, :source_event_seqs, :surface_op, :ignorable, :raw);

-- insert_stream: the packed part of an event enters
INSERT INTO streams (session, seq, at, size, body, first_time, last_time, usage, finish)
VALUES (:session, :seq, :at, :size, :body, :first_time, :last_time, :usage, :finish);
