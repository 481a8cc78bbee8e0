-- The rules of the surface, in the order of their codes; a replaced range is compared by position, never by seq.
CREATE TRIGGER surface_rules_check INSTEAD OF INSERT ON surface_rules
BEGIN
  -- the type, and the shape of the op
  SELECT CASE
    WHEN NEW.seq IS NOT (SELECT next_seq FROM session_bounds WHERE session = NEW.session)
      THEN RAISE(ABORT, 'seq-not-contiguous')
    WHEN NOT NEW.eligible THEN CASE
      WHEN NEW.ignorable = 1 AND NOT EXISTS (
             SELECT 1 FROM event_types WHERE type = NEW.type AND NEW.version BETWEEN since AND until)
        THEN CASE -- whatever it carries is its own, but it is JSON
          WHEN NEW.surface_op IS NOT NULL AND (json_valid(NEW.surface_op) IS NOT 1 OR instr(NEW.surface_op, char(0)) > 0)
            THEN RAISE(ABORT, 'op-invalid')
          WHEN NEW.source_event_seqs IS NOT NULL
           AND (json_valid(NEW.source_event_seqs) IS NOT 1 OR instr(NEW.source_event_seqs, char(0)) > 0)
            THEN RAISE(ABORT, 'sources-not-array')
          END
      WHEN NEW.surface_op IS NOT NULL        THEN RAISE(ABORT, 'op-on-log-only')
      WHEN NEW.source_event_seqs IS NOT NULL THEN RAISE(ABORT, 'sources-on-log-only')
      END
    WHEN NEW.surface_op IS NULL                  THEN RAISE(ABORT, 'op-missing')
    WHEN NEW.surface_op = '"append"'             THEN NULL
    WHEN json_valid(NEW.surface_op) IS NOT 1 OR instr(NEW.surface_op, char(0)) > 0
                                                 THEN RAISE(ABORT, 'op-invalid')
    WHEN json_type(NEW.surface_op) <> 'object'   THEN RAISE(ABORT, 'op-invalid')
    WHEN NEW.surface_op ->> '$.op' IS NOT 'replace'
      OR (SELECT count(*) FROM json_each(NEW.surface_op)) <> 3
      OR EXISTS (
           SELECT 1 FROM json_each(NEW.surface_op)
            WHERE key <> 'op'
              AND (key NOT IN (iif(NEW.version >= 3, 'startSeq', 'start'), iif(NEW.version >= 3, 'endSeq', 'end'))
                OR type NOT IN ('integer', 'real') OR value <> CAST(value AS INTEGER)
                OR value NOT BETWEEN 0 AND 9007199254740991))
      OR instr(NEW.surface_op, '-') > 0
      THEN RAISE(ABORT, 'replace-invalid')
  END;

  -- the range of a replace
  SELECT CASE
    WHEN a.pos IS NULL OR a.shadowed_by IS NOT NULL THEN RAISE(ABORT, 'replace-start-not-on-surface')
    WHEN z.pos IS NULL OR z.shadowed_by IS NOT NULL THEN RAISE(ABORT, 'replace-end-not-on-surface')
    WHEN a.pos > z.pos                              THEN RAISE(ABORT, 'replace-inverted')
  END
  FROM (SELECT NEW.surface_op ->> iif(NEW.version >= 3, '$.startSeq', '$.start') AS start,
               NEW.surface_op ->> iif(NEW.version >= 3, '$.endSeq', '$.end') AS stop
         WHERE NEW.eligible AND NEW.surface_op <> '"append"') AS op
  LEFT JOIN surface_nodes AS a ON a.session = NEW.session AND a.seq = op.start
  LEFT JOIN surface_nodes AS z ON z.session = NEW.session AND z.seq = op.stop;

  -- the cited events
  SELECT CASE
    WHEN json_valid(NEW.source_event_seqs) IS NOT 1 OR instr(NEW.source_event_seqs, char(0)) > 0
                                                        THEN RAISE(ABORT, 'sources-not-array')
    WHEN json_type(NEW.source_event_seqs) <> 'array'    THEN RAISE(ABORT, 'sources-not-array')
    WHEN json_array_length(NEW.source_event_seqs) = 0 AND (NEW.type <> 'assistant/message' OR NEW.version >= 3)
                                                        THEN RAISE(ABORT, 'sources-empty')
    WHEN NEW.type = 'assistant/message' AND NEW.version >= 3
                                                        THEN RAISE(ABORT, 'sources-on-settlement')
  END
  WHERE NEW.eligible AND NEW.source_event_seqs IS NOT NULL;

  SELECT CASE
    WHEN (count(*) > 0 AND instr(NEW.source_event_seqs, '-') > 0) OR max(value) > 9007199254740991 OR max(CASE type
           WHEN 'integer' THEN 0
           WHEN 'real'    THEN value <> CAST(value AS INTEGER)
           ELSE 1 END)                                  THEN RAISE(ABORT, 'sources-not-seqs')
    -- in a query of its own, which sets up an index: most events cite one, or a run of seqs
    WHEN min(value - key) <> max(value - key)
     AND (SELECT count(DISTINCT value) < count(*) FROM json_each(NEW.source_event_seqs))
                                                        THEN RAISE(ABORT, 'sources-duplicate')
    WHEN max(value) >= NEW.seq                          THEN RAISE(ABORT, 'sources-not-earlier')
  END
  FROM (SELECT key, value, type FROM json_each(NEW.source_event_seqs) WHERE NEW.eligible LIMIT -1); -- the limit: each is read once

  -- what a replace shadows; the span is read through the index of live nodes, shadowed ones are never scanned
  SELECT CASE
    WHEN EXISTS (
           SELECT seq FROM surface_nodes WHERE session = NEW.session AND shadowed_by IS NULL AND pos BETWEEN a.pos AND z.pos
           EXCEPT SELECT value FROM json_each(coalesce(NEW.source_event_seqs, '[]')))
      THEN RAISE(ABORT, 'sources-miss-shadowed')
    WHEN NEW.type = 'tool/result' AND a.pos <> z.pos
      THEN RAISE(ABORT, 'result-rewrite-span')
    WHEN NEW.type = 'tool/result' AND target.type <> 'tool/result'
      THEN RAISE(ABORT, 'result-rewrite-target')
    WHEN NEW.type = 'tool/result' AND json_valid(NEW.data) IS NOT 1
      THEN RAISE(ABORT, 'data-not-json')
    WHEN NEW.type = 'tool/result' AND EXISTS ( -- all but the content is the same value, numbers compared as doubles
           WITH results (age, data) AS (VALUES ('new', NEW.data), ('old', target.data)),
                fields (age, fullkey, type, atom) AS (
                  SELECT age, fullkey, replace(tree.type, 'real', 'integer'),
                         iif(tree.type IN ('integer', 'real'), CAST(atom AS REAL), atom)
                    FROM results, json_tree(json_replace(data, CASE
                           WHEN NEW.version >= 4 THEN '$.message.content'
                           WHEN NEW.version = 0 AND json_type(data, '$.message') IS NULL THEN '$.content'
                           ELSE '$.message.content[0].content' END, NULL)) AS tree),
                new AS (SELECT fullkey, type, atom FROM fields WHERE age = 'new'),
                old AS (SELECT fullkey, type, atom FROM fields WHERE age = 'old')
           SELECT 1 FROM (SELECT * FROM new EXCEPT SELECT * FROM old)
           UNION ALL
           SELECT 1 FROM (SELECT * FROM old EXCEPT SELECT * FROM new))
      THEN RAISE(ABORT, 'result-rewrite-fields')
    WHEN NEW.version >= 3 AND target.type = 'system/message' AND NOT (NEW.type = 'system/message' AND a.pos = z.pos)
     AND NOT EXISTS (SELECT 1 FROM surface_nodes WHERE session = NEW.session AND shadowed_by IS NULL AND pos < a.pos)
      THEN RAISE(ABORT, 'system-head-protected')
  END
  FROM (SELECT NEW.surface_op ->> iif(NEW.version >= 3, '$.startSeq', '$.start') AS start,
               NEW.surface_op ->> iif(NEW.version >= 3, '$.endSeq', '$.end') AS stop
         WHERE NEW.eligible AND NEW.surface_op <> '"append"') AS op
  JOIN surface_nodes AS a ON a.session = NEW.session AND a.seq = op.start
  JOIN surface_nodes AS z ON z.session = NEW.session AND z.seq = op.stop
  JOIN events AS target ON target.session = a.owner AND target.seq = a.seq;
END;
