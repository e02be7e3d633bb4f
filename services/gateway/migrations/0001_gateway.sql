-- What viewers see, and what makes a request safe to repeat.

create table gateway.session_envelopes (
    tenant_id text not null,
    session_id text not null,
    principal text not null,
    title text,
    root text,
    hitl text not null,
    next_seq bigint not null default 1,
    created_at timestamptz not null,
    last_at timestamptz not null,
    primary key (tenant_id, session_id)
) with (fillfactor = 70);

-- One gapless sequence per session, numbered under the session's row.
create table gateway.session_events (
    tenant_id text not null,
    session_id text not null,
    seq bigint not null,
    event_id text not null,
    event_type text not null,
    turn_id text,
    occurred_at timestamptz not null,
    data jsonb not null,
    correlation text,
    causation text,
    primary key (tenant_id, session_id, seq),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
create index session_events_workspace on gateway.session_events (tenant_id, session_id, seq)
    where event_type = 'suma.workspace.changed.v1';

create table gateway.turns (
    tenant_id text not null,
    turn_id text not null,
    session_id text not null,
    message_id text,
    text text not null default '',
    state text not null,
    reason text,
    detail text not null default '',
    answer text,
    created_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz,
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
) with (fillfactor = 70);
create index turns_session on gateway.turns (tenant_id, session_id, turn_id);

-- The inbox of questions to people: open ones have no outcome.
create table gateway.approvals (
    tenant_id text not null,
    approval_id text not null,
    session_id text not null,
    turn_id text not null,
    kind text not null,
    digest text not null,
    data jsonb not null,
    opened_at timestamptz not null,
    expires_at timestamptz not null,
    outcome text,
    principal text,
    reason text,
    closed_at timestamptz,
    primary key (tenant_id, approval_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
create index approvals_open on gateway.approvals (tenant_id, session_id, approval_id) where outcome is null;

create table gateway.dlq_messages (
    tenant_id text not null,
    grp text not null,
    event_id text not null,
    topic text not null,
    event_type text not null,
    event_key text not null,
    event jsonb not null,
    code text not null,
    error text not null,
    attempts int not null,
    died_at timestamptz not null,
    primary key (tenant_id, grp, event_id)
);

create table gateway.idempotency (
    tenant_id text not null,
    principal text not null,
    key text not null,
    body_hash text not null,
    receipt jsonb not null,
    at timestamptz not null,
    primary key (tenant_id, principal, key)
);
create index idempotency_age on gateway.idempotency (tenant_id, at);

create table gateway.api_keys (
    tenant_id text not null,
    key_id text not null unique,
    hash text not null,
    principal text not null,
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    primary key (tenant_id, key_id)
);

-- A key is looked up before anyone knows whose it is. Row-level security is forced on the owner too, so the owner has a
-- policy of its own, and the app has this one function.
create policy lookup on gateway.api_keys for select to suma_owner using (true);

create function gateway.key_by_id(id text)
returns table (tenant_id text, key_id text, hash text, principal text, scopes text[], expires_at timestamptz, revoked_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select k.tenant_id, k.key_id, k.hash, k.principal, k.scopes, k.expires_at, k.revoked_at
    from gateway.api_keys k where k.key_id = key_by_id.id
$$;
revoke all on function gateway.key_by_id(text) from public;
grant execute on function gateway.key_by_id(text) to suma_app;
