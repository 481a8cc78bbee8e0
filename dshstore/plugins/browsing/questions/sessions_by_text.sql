-- Sessions by their text: the messages that hold :text, wherever in the log they are
SELECT session_id, format_version, seq, time, type, data
  FROM event_log
 WHERE type IN ('user/message', 'assistant/message', 'tool/result', 'system/message')
   AND :text <> '' AND data LIKE '%' || :text || '%'
 ORDER BY time DESC
 LIMIT 100
