DROP TABLE signpost.queries, signpost.sessions;
DROP FUNCTION signpost.log_queries_put, signpost.log_queries_delete, signpost.log_sessions_put, signpost.log_sessions_delete;
