-- Where an A2A client wants to be told of a task's updates (docs/connect/a2a.md). `delivery` is the lease that tells it; another
-- one, of an earlier version of this row, stops.
create table gateway.push_configs (
    tenant_id text not null,
    turn_id text not null,
    config_id text not null,
    principal text not null,
    session_id text not null,
    url text not null,
    token text not null,
    scheme text not null,
    credentials text not null,
    base text not null,
    delivery text not null,
    created_at timestamptz not null,
    primary key (tenant_id, turn_id, config_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
