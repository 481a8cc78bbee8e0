-- last_import: the reading that was put on record last
SELECT max(id) FROM imports;

-- insert_piece: something is set aside, unless an earlier reading of the same log set it aside
INSERT INTO quarantine (import, kind, branch, seq, line, frame, offset, size, reason, raw)
SELECT :import, :kind, :branch, :seq, :line, :frame, :offset, :size, :reason, :raw
 WHERE NOT EXISTS (
   SELECT 1 FROM imports AS i JOIN quarantine AS q ON q.import = i.id
    WHERE i.session IS :session AND (:session IS NOT NULL OR i.path = :path OR i.sha256 = :sha256)
      AND i.id <> :import AND q.line IS :line AND q.kind = :kind AND q.size = :size AND q.raw IS :raw);

-- pieces_of_last_import: how many pieces the last reading set aside
SELECT count(*) FROM quarantine WHERE import = (SELECT max(id) FROM imports);

-- page: what was set aside, of all logs
SELECT q.id, i.path, s.session_id, s.format_version, q.kind, q.branch, q.seq, q.line, q.frame, q.offset, q.size, q.reason
  FROM quarantine AS q
  JOIN imports AS i ON i.id = q.import
  LEFT JOIN sessions AS s ON s.id = i.session
 WHERE q.id > :after ORDER BY q.id LIMIT :page;

-- page_of_session: what was set aside of the logs of one session
SELECT q.id, i.path, s.session_id, s.format_version, q.kind, q.branch, q.seq, q.line, q.frame, q.offset, q.size, q.reason
  FROM quarantine AS q
  JOIN imports AS i ON i.id = q.import
  JOIN sessions AS s ON s.id = i.session
 WHERE i.session = :session AND q.id > :after ORDER BY q.id LIMIT :page;

-- raw: the bytes of a piece
SELECT raw, size FROM quarantine WHERE id = :id;
