-- The questions and replies of the turns that a list of tasks shows: few events are any.
create index session_events_exchanges on gateway.session_events (tenant_id, turn_id)
    where event_type in ('suma.clarification.requested.v1', 'suma.clarification.replied.v1');
drop index gateway.session_events_clarifications;
