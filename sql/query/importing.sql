-- last_import: from where the log of a session can be read on, by files of this encoding, furthest first; the place must begin a row
SELECT kept_size, lines, frames, kept_sha256, events FROM imports
 WHERE session = :session AND encoding = :encoding AND lines > 0
   AND (EXISTS (SELECT 1 FROM events AS e WHERE e.session = imports.session AND e.seq = imports.events)
     OR events = (SELECT next_seq FROM session_bounds WHERE session = imports.session))
 ORDER BY kept_size DESC LIMIT 1;
