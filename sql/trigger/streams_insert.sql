-- A stream enters beside its event: a run's, or one cut out where data now holds null.
CREATE TRIGGER streams_insert BEFORE INSERT ON streams
BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM streams WHERE rowid = NEW.rowid)
      OR EXISTS (SELECT 1 FROM streams WHERE session = NEW.session AND seq = NEW.seq)
      THEN RAISE(ABORT, 'events-are-append-only')
    WHEN NOT EXISTS (
           SELECT 1 FROM events
            WHERE session = NEW.session AND seq = NEW.seq
              AND CASE WHEN NEW.at IS NULL THEN type = 'assistant/chunk'
                       ELSE substr(CAST(data AS BLOB), NEW.at + 1, 4) = x'6e756c6c' END)
      THEN RAISE(ABORT, 'stream-without-event')
    WHEN typeof(NEW.size) <> 'integer' OR typeof(NEW.body) <> 'blob'
      THEN RAISE(ABORT, 'stream-invalid')
  END;
END;
