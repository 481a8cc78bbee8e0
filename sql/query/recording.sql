-- insert_import: a log was read
INSERT INTO imports (session, path, encoding, size, sha256, kept_size, kept_sha256, lines, frames, events, content_sha256, notes, imported_at)
VALUES (:session, :path, :encoding, :size, :sha256, :kept_size, :kept_sha256, :lines, :frames, :events, :content_sha256, :notes, :imported_at);
