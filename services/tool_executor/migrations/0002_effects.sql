-- What happens outside our own Postgres: each intent written before its effect, with its class, and what became of it.
-- `begun` is the newest attempt that may have acted, `settled` the newest of which it is known that nothing is left in
-- doubt: between the two lies what a crash leaves open.

create table executor.effects (
    tenant_id text not null,
    intent_id text not null,
    call_id text not null,
    session_id text not null,
    turn_id text not null,
    step_id text not null,
    tool text not null,
    effect_class text not null check (effect_class in ('pure', 'idempotent', 'reconcilable', 'compensable', 'at_most_once')),
    state text not null check (state in ('open', 'happened', 'did_not_happen', 'undone', 'unknown')),
    begun int not null default 0,
    settled int not null default 0 check (settled <= begun),
    outcome jsonb,
    intended_at timestamptz not null default now(),
    begun_at timestamptz,
    ended_at timestamptz,
    primary key (tenant_id, intent_id)
) with (fillfactor = 70);

alter table executor.tool_calls drop constraint tool_calls_state_check;
alter table executor.tool_calls add constraint tool_calls_state_check
    check (state in ('running', 'succeeded', 'failed', 'denied', 'dead', 'unknown'));
