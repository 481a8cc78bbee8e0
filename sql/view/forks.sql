-- One row: one fork: it shares the events of `parent` up to seq `at`. Insert (session_id, created_at, header, parent, at) to make one.
CREATE VIEW forks AS
SELECT id AS session, session_id, format_version, created_at, header, forked_from AS parent, forked_at AS at
  FROM sessions WHERE forked_from IS NOT NULL;
