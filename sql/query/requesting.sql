-- last_header: the last request header up to an event
SELECT e.seq
  FROM segments AS g
  JOIN events AS e ON e.type = 'request/header' AND e.session = g.owner AND e.seq BETWEEN g.first_seq AND min(g.last_seq, :at)
 WHERE g.session = :session ORDER BY g.first_seq DESC, e.seq DESC LIMIT 1;
