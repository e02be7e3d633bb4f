-- Outcomes of attempts with each capability, as sums: no content, and nothing of a person.
create table memory.outcomes (
    tenant_id text not null,
    tool_id text not null,
    provider text not null,
    step_type text not null,
    attempts bigint not null,
    successes bigint not null,
    latency_ms bigint not null,
    quality float8 not null,
    judged bigint not null,
    cost_micros bigint not null,
    primary key (tenant_id, step_type, provider, tool_id)
) with (fillfactor = 70);
