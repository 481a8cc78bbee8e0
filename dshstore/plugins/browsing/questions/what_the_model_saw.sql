-- What the model saw: the messages after event :seq of session :session_id, or now where it is left empty
SELECT key AS position, value ->> '$.role' AS role, value AS message
  FROM json_each(dsh_messages(:session_id, :seq))
