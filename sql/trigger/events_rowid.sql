-- Before an insert a rowid that is still to come looks like -1, so no event may have that one: it could be taken over.
CREATE TRIGGER events_rowid AFTER INSERT ON events
WHEN NEW.rowid < 1
BEGIN
  SELECT RAISE(ABORT, 'rowid-invalid');
END;
