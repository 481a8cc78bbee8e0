-- Before any event enters: the next seq, no row taken over, and columns of the right shape.
CREATE TRIGGER events_insert BEFORE INSERT ON events
BEGIN
  SELECT CASE
    WHEN NEW.seq IS NOT (SELECT next_seq FROM session_bounds WHERE session = NEW.session) OR NEW.seq IS NULL
      THEN RAISE(ABORT, 'seq-not-contiguous')
    WHEN NEW.rowid > 0 AND EXISTS (SELECT 1 FROM events WHERE rowid = NEW.rowid)
      THEN RAISE(ABORT, 'events-are-append-only')
    WHEN typeof(NEW.type) <> 'text' OR (NEW.ignorable IS NOT NULL AND NEW.ignorable IS NOT 1)
      OR typeof(NEW.time) <> 'integer' OR NEW.time NOT BETWEEN -9007199254740991 AND 9007199254740991
      THEN RAISE(ABORT, 'event-invalid')
    WHEN typeof(NEW.data) <> 'text' OR json_valid(NEW.data) IS NOT 1
      OR printf('%s', NEW.data) <> NEW.data -- both end at a NUL; this is the fastest way to see one
      THEN RAISE(ABORT, 'data-not-json')
    WHEN NEW.count IS NOT 1 AND (typeof(NEW.count) <> 'integer' OR NEW.count < 1 OR NEW.seq + NEW.count > 9007199254740991
      OR NEW.type <> 'assistant/chunk' OR json_type(NEW.data, '$.chunk') IS NOT NULL
      OR (SELECT format_version FROM sessions WHERE id = NEW.session) >= 2)
      THEN RAISE(ABORT, 'run-invalid')
  END;
END;
