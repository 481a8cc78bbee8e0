-- objects: whatever a file holds
SELECT name FROM sqlite_schema;

-- span: between which texts those of some sessions stand
SELECT coalesce(min(id), 0), coalesce(max(id), 0) FROM texts
 WHERE session IN (SELECT value ->> 0 FROM json_each(:parts));

-- floor: of more texts that match than are ranked, the first one that is
SELECT coalesce(min(id), 0)
  FROM (SELECT w.rowid AS id FROM words AS w
         CROSS JOIN texts AS t ON t.id = w.rowid
         CROSS JOIN seen AS s ON s.session = t.session
         WHERE w.terms MATCH :match AND w.rowid BETWEEN :first AND :last
           AND (:roles IS NULL OR t.role IN (SELECT value FROM json_each(:roles)))
           AND (:since IS NULL OR t.time >= :since)
           AND (:sessions IS NULL OR t.session IN (SELECT value FROM json_each(:sessions)))
           AND CASE WHEN :parts IS NULL THEN t.seq >= s.own_from
                    ELSE EXISTS (SELECT 1 FROM json_each(:parts)
                                  WHERE value ->> 0 = t.session AND t.seq BETWEEN value ->> 1 AND value ->> 2) END
         ORDER BY w.rowid DESC LIMIT :ranked);

-- matches: the texts that match, the best first
SELECT t.session, t.seq, t.role, t.time, bm25(words) AS score
  FROM words
 CROSS JOIN texts AS t ON t.id = words.rowid
 CROSS JOIN seen AS s ON s.session = t.session
 WHERE words.terms MATCH :match AND words.rowid BETWEEN :first AND :last
   AND (:roles IS NULL OR t.role IN (SELECT value FROM json_each(:roles)))
   AND (:since IS NULL OR t.time >= :since)
   AND (:sessions IS NULL OR t.session IN (SELECT value FROM json_each(:sessions)))
   AND CASE WHEN :parts IS NULL THEN t.seq >= s.own_from
            ELSE EXISTS (SELECT 1 FROM json_each(:parts)
                          WHERE value ->> 0 = t.session AND t.seq BETWEEN value ->> 1 AND value ->> 2) END
 ORDER BY score, t.id DESC LIMIT :limit;

-- seen: what a side file knows of each session
SELECT session, next_seq, born, last, own_from FROM seen
 WHERE :keys IS NULL OR session IN (SELECT value FROM json_each(:keys));

-- ends: the same in short
SELECT session, next_seq, own_from FROM seen;

-- witness: rows that were in the store when all of this was seen, and what they held
SELECT event, import, session, held FROM witness;

-- call_witness: take others for it
INSERT INTO witness (id, event, import, session, held) VALUES (1, :event, :import, :session, :held)
    ON CONFLICT (id) DO UPDATE
   SET event = excluded.event, import = excluded.import, session = excluded.session, held = excluded.held;

-- last_id: the last text that was taken in
SELECT coalesce(max(id), 0) FROM texts;

-- add_words: take in the terms of a text
INSERT INTO words (rowid, terms) VALUES (:id, :terms);

-- add_text: and whose text it is
INSERT INTO texts (id, session, seq, role, time) VALUES (:id, :session, :seq, :role, :time);

-- keep: how far a session has been taken in
INSERT INTO seen (session, next_seq, born, last, own_from) VALUES (:session, :next_seq, :born, :last, :own_from)
    ON CONFLICT (session) DO UPDATE
   SET next_seq = excluded.next_seq, born = excluded.born, last = excluded.last, own_from = excluded.own_from;

-- forget_words: the terms of a session
DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE session = :session);

-- forget_texts: its texts
DELETE FROM texts WHERE session = :session;

-- forget: and itself
DELETE FROM seen WHERE session = :session;
