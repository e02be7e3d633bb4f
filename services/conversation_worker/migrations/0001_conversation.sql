-- What the conversation worker knows. A session's row carries its version: the loser of a race decides again.

create table conversation.sessions (
    tenant_id text not null,
    session_id text not null,
    version bigint not null,
    epoch bigint not null default 0,
    root text,
    active_turn text,
    doc jsonb not null,
    primary key (tenant_id, session_id)
) with (fillfactor = 70);

create table conversation.messages (
    tenant_id text not null,
    session_id text not null,
    message_id text not null,
    turn_id text not null,
    role text not null check (role in ('user', 'assistant')),
    text text not null,
    at timestamptz not null default now(),
    primary key (tenant_id, message_id)
);
create index messages_session on conversation.messages (tenant_id, session_id, at);

create table conversation.turns (
    tenant_id text not null,
    session_id text not null,
    turn_id text not null,
    state text not null,
    reason text,
    doc jsonb not null,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (tenant_id, turn_id)
) with (fillfactor = 70);
create index turns_session on conversation.turns (tenant_id, session_id);

create table conversation.plans (
    tenant_id text not null,
    plan_id text not null,
    session_id text not null,
    turn_id text not null,
    round int not null,
    doc jsonb not null,
    primary key (tenant_id, plan_id)
);

create table conversation.plan_steps (
    tenant_id text not null,
    step_id text not null,
    session_id text not null,
    turn_id text not null,
    round int not null,
    ordinal int not null,
    tool text not null,
    state text not null,
    doc jsonb not null,
    primary key (tenant_id, step_id)
) with (fillfactor = 70);
create index plan_steps_turn on conversation.plan_steps (tenant_id, turn_id, round, ordinal);

create table conversation.approvals (
    tenant_id text not null,
    approval_id text not null,
    session_id text not null,
    turn_id text not null,
    kind text not null,
    outcome text,
    doc jsonb not null,
    asked_at timestamptz not null default now(),
    primary key (tenant_id, approval_id)
);
create index approvals_turn on conversation.approvals (tenant_id, turn_id);
