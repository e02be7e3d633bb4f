-- The sequence of a session is written under a lock on the session's row, found by its whole key: the statement itself refuses an
-- event without a session, so checking each row once more is work for nothing.
alter table gateway.session_events drop constraint session_events_tenant_id_session_id_fkey;
