-- next_seq and inherited_count move only while an event stands at next_seq, or once when a session begins with a cut.
CREATE TRIGGER sessions_kept AFTER UPDATE OF next_seq, inherited_count ON sessions
WHEN NOT EXISTS (
       SELECT 1 FROM events
        WHERE session = OLD.id AND seq = OLD.next_seq AND NEW.next_seq = seq + count
          AND (NEW.inherited_count = OLD.inherited_count OR (NEW.inherited_count = seq AND type = 'session/end-seed')))
 AND NOT (OLD.next_seq = 0 AND NEW.next_seq = coalesce(OLD.forked_at + 1, 0)
          AND NEW.inherited_count IS coalesce(
                OLD.forked_at + 1, iif(OLD.format_version < 2, CAST(OLD.header ->> '$.seedLength' AS INTEGER), NULL)))
BEGIN
  SELECT RAISE(ABORT, 'next-seq-is-kept-by-triggers');
END;
