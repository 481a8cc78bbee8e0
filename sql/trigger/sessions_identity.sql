-- A session keeps its number (by whatever name it is called), id, version, header and parent for good.
CREATE TRIGGER sessions_identity
BEFORE UPDATE OF id, rowid, oid, _rowid_, session_id, format_version, created_at, header, header_raw, runtime, forked_from, forked_at
ON sessions
BEGIN
  SELECT RAISE(ABORT, 'session-identity-is-fixed');
END;
