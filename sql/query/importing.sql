-- last_import: how far the log of a session was last read from a file of this encoding, furthest first; its end must begin a row
SELECT kept_size, lines, frames, kept_sha256, events FROM imports
 WHERE session = :session AND encoding = :encoding
   AND (EXISTS (SELECT 1 FROM events AS e WHERE e.session = imports.session AND e.seq = imports.events)
     OR events = (SELECT next_seq FROM sessions WHERE id = imports.session))
 ORDER BY kept_size DESC LIMIT 1;

-- insert_import: a log was read
INSERT INTO imports (session, path, encoding, size, sha256, kept_size, kept_sha256, lines, frames, events, content_sha256, notes, imported_at)
VALUES (:session, :path, :encoding, :size, :sha256, :kept_size, :kept_sha256, :lines, :frames, :events, :content_sha256, :notes, :imported_at);
