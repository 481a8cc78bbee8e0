-- Every column of every table and view
SELECT t.name, c.name
  FROM sqlite_schema AS t
  JOIN pragma_table_xinfo(t.name) AS c
 WHERE t.type IN ('table', 'view')
