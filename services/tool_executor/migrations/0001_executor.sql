-- What the executor knows: each call's intent and outcome, and each session's stage as a versioned log of operations.

create table executor.tool_calls (
    tenant_id text not null,
    call_id text not null,
    session_id text not null,
    turn_id text not null,
    step_id text not null,
    tool text not null,
    state text not null check (state in ('running', 'succeeded', 'failed', 'denied', 'dead')),
    args jsonb not null,
    outcome jsonb,
    requested_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (tenant_id, call_id)
) with (fillfactor = 80);
create index tool_calls_turn on executor.tool_calls (tenant_id, turn_id) where state = 'running';

-- Turns that were cancelled: a call of theirs that comes late does not begin.
create table executor.cancelled_turns (
    tenant_id text not null,
    turn_id text not null,
    at timestamptz not null default now(),
    primary key (tenant_id, turn_id)
);

-- `revision` moves with every change of the stage; `length` is how many operations it has: its version. A stage is of one
-- turn: what an earlier one left behind does not count.
create table executor.stages (
    tenant_id text not null,
    session_id text not null,
    revision bigint not null,
    length int not null,
    root text,
    turn_id text not null,
    primary key (tenant_id, session_id)
) with (fillfactor = 70);

create table executor.stage_operations (
    tenant_id text not null,
    session_id text not null,
    version int not null,
    step_id text not null,
    operation jsonb not null,
    primary key (tenant_id, session_id, version)
);

create table executor.snapshots (
    tenant_id text not null,
    session_id text not null,
    snapshot_id text not null,
    version int not null,
    step_id text not null,
    at timestamptz not null default now(),
    primary key (tenant_id, session_id, snapshot_id)
);

-- The mirror of what workspaces' own journals hold; they decide, this is for looking.
create table executor.journal (
    tenant_id text not null,
    commit_id text not null,
    session_id text not null,
    turn_id text not null,
    root text not null,
    state text not null check (state in ('committed', 'rolled_back')),
    operations int not null,
    diff jsonb not null,
    at timestamptz not null default now(),
    primary key (tenant_id, commit_id)
);
