-- The questions of the turns that a list of tasks shows: few events are any.
create index session_events_clarifications on gateway.session_events (tenant_id, turn_id)
    where event_type = 'suma.clarification.requested.v1';
