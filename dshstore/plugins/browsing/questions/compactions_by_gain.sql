-- Compactions by what they saved: which message took the place of how much
SELECT session_id, format_version, seq, time, kind, nodes, characters_before, characters_after,
       characters_before - characters_after AS characters_saved, tokens_before, tokens_after, summary
  FROM compactions
 ORDER BY characters_saved DESC
