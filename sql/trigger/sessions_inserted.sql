-- After a session entered: its columns, and its own open segment; for a fork first the parent's segments and the nodes live at the boundary.
-- No event is copied. The own segment comes last: while it is missing, the session is being made (see segments_insert, surface_nodes_insert).
CREATE TRIGGER sessions_inserted AFTER INSERT ON sessions
BEGIN
  -- before the insert a number that is still to come looks like -1, so that one is never given; nor is one that leaves no next
  SELECT RAISE(ABORT, 'session-number-invalid') WHERE NEW.id NOT BETWEEN 1 AND 9007199254740991;

  UPDATE sessions
     SET cwd              = CAST(NEW.header ->> '$.cwd' AS TEXT),
         parent_session   = CAST(NEW.header ->> '$.parentSession' AS TEXT),
         origin           = CAST(NEW.header ->> '$.origin' AS TEXT),
         delegation_depth = CAST(NEW.header ->> '$.delegationDepth' AS INTEGER),
         agent_preset     = CAST(NEW.header ->> '$.agentPreset' AS TEXT)
   WHERE id = NEW.id;

  INSERT INTO segments (session, first_seq, last_seq, owner)
  SELECT NEW.id, first_seq, min(last_seq, NEW.forked_at), owner
    FROM segments WHERE session = NEW.forked_from AND first_seq <= NEW.forked_at;

  -- the nodes that are live now, and those that a replace behind the boundary, if any event is there, has shadowed since
  INSERT INTO surface_nodes (session, seq, pos, owner)
  SELECT NEW.id, n.seq, n.pos, n.owner
    FROM segments AS g
    CROSS JOIN surface_nodes AS n INDEXED BY surface_nodes_live
   WHERE g.session = NEW.forked_from AND NEW.forked_at BETWEEN g.first_seq AND g.last_seq
     AND n.session = g.owner AND n.shadowed_by IS NULL AND n.seq <= NEW.forked_at
  UNION ALL
  SELECT NEW.id, n.seq, n.pos, n.owner
    FROM segments AS g
    CROSS JOIN surface_nodes AS n
   WHERE g.session = NEW.forked_from AND NEW.forked_at BETWEEN g.first_seq AND g.last_seq
     AND EXISTS (SELECT 1 FROM events WHERE session = g.owner AND seq > NEW.forked_at)
     AND n.session = g.owner AND n.seq <= NEW.forked_at AND n.shadowed_by > NEW.forked_at;

  INSERT INTO segments (session, first_seq, last_seq, owner)
  VALUES (NEW.id, coalesce(NEW.forked_at + 1, 0), 9007199254740991, NEW.id);
END;
