-- Segments go only with their session.
CREATE TRIGGER segments_delete BEFORE DELETE ON segments
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
  SELECT RAISE(ABORT, 'segments-are-kept-by-triggers');
END;
