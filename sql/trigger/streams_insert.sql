-- A stream enters beside its event: a run's, or one cut out where the member `stream` of data now is null.
CREATE TRIGGER streams_insert BEFORE INSERT ON streams
BEGIN
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM streams WHERE rowid = NEW.rowid)
      OR EXISTS (SELECT 1 FROM streams WHERE session = NEW.session AND seq = NEW.seq)
      THEN RAISE(ABORT, 'events-are-append-only')
    WHEN NOT EXISTS (
           SELECT 1 FROM events
            WHERE session = NEW.session AND seq = NEW.seq
              AND CASE
                WHEN NEW.at IS NULL THEN type = 'assistant/chunk' AND json_type(data, '$.chunk') IS NULL
                WHEN type NOT IN ('assistant/message', 'assistant/attempt') OR NEW.at < 0
                  OR substr(CAST(data AS BLOB), NEW.at + 1, 4) <> x'6e756c6c' THEN 0
                -- with another value in place of this null, the member has that value
                ELSE json_type(substr(CAST(data AS BLOB), 1, NEW.at) || '0' || substr(CAST(data AS BLOB), NEW.at + 5),
                               '$.stream') IS 'integer' END)
      THEN RAISE(ABORT, 'stream-without-event')
    WHEN typeof(NEW.size) <> 'integer' OR NEW.size < 0 OR typeof(NEW.body) <> 'blob'
      OR (NEW.usage IS NOT NULL AND json_valid(NEW.usage) IS NOT 1)
      THEN RAISE(ABORT, 'stream-invalid')
  END;
END;
