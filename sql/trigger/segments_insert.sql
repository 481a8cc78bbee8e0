-- A session's segments are made when it is: those of the parent that a fork shares, then its own; any other is refused.
CREATE TRIGGER segments_insert BEFORE INSERT ON segments
WHEN EXISTS (SELECT 1 FROM segments WHERE session = NEW.session AND (first_seq = NEW.first_seq OR owner = NEW.session))
  OR NOT EXISTS (
       SELECT 1 FROM sessions AS s
        WHERE s.id = NEW.session
          AND ((NEW.owner = s.id AND NEW.first_seq = coalesce(s.forked_at + 1, 0) AND NEW.last_seq = 9007199254740991)
            OR EXISTS (
                 SELECT 1 FROM segments AS g
                  WHERE g.session = s.forked_from AND g.first_seq = NEW.first_seq AND g.first_seq <= s.forked_at
                    AND NEW.last_seq = min(g.last_seq, s.forked_at) AND NEW.owner = g.owner)))
BEGIN
  SELECT RAISE(ABORT, 'segments-are-kept-by-triggers');
END;
