-- Before an insert a rowid that is still to come looks like -1, so no stream may have that one: it could be taken over.
CREATE TRIGGER streams_rowid AFTER INSERT ON streams
WHEN NEW.rowid < 1
BEGIN
  SELECT RAISE(ABORT, 'rowid-invalid');
END;
