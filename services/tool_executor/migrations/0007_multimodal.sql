-- The capabilities of the deployment, each with its last check. They are part of its settings, so they have no tenant.

create table executor.multimodal_capabilities (
    tool_id text not null,
    provider text not null,
    modalities text[] not null,
    formats text[] not null,
    constraints jsonb not null,
    cost_tier text not null,
    health_status text not null check (health_status in ('healthy', 'unhealthy')),
    problem text not null,
    checked_at timestamptz not null default now(),
    primary key (provider, tool_id)
) with (fillfactor = 70);

-- The attempts of multimodal calls. `token` is that of the lease that began it: one that is open and has an older token was
-- interrupted. `cost_micros` is in millionths of a US dollar.
create table executor.multimodal_executions (
    tenant_id text not null,
    id text not null,
    session_id text not null,
    plan_id text not null,
    turn_id text not null,
    call_id text not null,
    step_id text not null,
    step_index int not null,
    attempt int not null,
    token bigint not null,
    tool_id text not null,
    provider text not null,
    paid boolean not null,
    status text not null check (status in ('running', 'succeeded', 'rework', 'failed')),
    asset_id text,
    latency_ms int,
    cost_micros bigint not null default 0,
    quality_score float8,
    critique jsonb,
    error text,
    at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (tenant_id, id)
) with (fillfactor = 80);
create index multimodal_executions_call on executor.multimodal_executions (tenant_id, call_id);
create index multimodal_executions_turn on executor.multimodal_executions (tenant_id, turn_id);
create index multimodal_executions_paid on executor.multimodal_executions (tenant_id, at) where paid;
