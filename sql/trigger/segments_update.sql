-- A segment is never changed.
CREATE TRIGGER segments_update BEFORE UPDATE ON segments
BEGIN
  SELECT RAISE(ABORT, 'segments-are-kept-by-triggers');
END;
