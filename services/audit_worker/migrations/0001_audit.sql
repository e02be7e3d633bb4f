-- The audit chain (architecture.md 16): one per tenant, dense from position 1.

create table audit.audit_events (
    tenant_id text not null,
    position bigint not null,
    event_id text not null,
    occurred_at timestamptz not null,
    action text not null,
    phase text not null,
    verdict text not null,
    principal text not null,
    session_id text,
    turn_id text,
    -- The columns above only help to search; the record is what the leaf covers. jsonb keeps the value of every member, and
    -- canonical JSON is written from values, so the leaf can be computed again from here.
    record jsonb not null,
    leaf bytea not null,
    link bytea not null,
    primary key (tenant_id, position)
);
-- The tenant stands behind: without statistics the planner takes any index that begins with it, for every query.
create index audit_events_session on audit.audit_events (session_id, tenant_id, position);

-- Where each chain ends, and how far it is sealed. Its row is locked by whoever chains.
create table audit.heads (
    tenant_id text primary key,
    count bigint not null,
    link bytea not null,
    sealed bigint not null default 0,
    -- When it was last sealed, else begun.
    since timestamptz not null default now()
) with (fillfactor = 50);

create table audit.checkpoints (
    tenant_id text not null,
    count bigint not null,
    head text not null,
    -- As signed, to the letter: a timestamptz would write it differently.
    time text not null,
    key_id text not null,
    signature text not null,
    primary key (tenant_id, count)
);

-- Looking for due checkpoints has no tenant yet (bus.md 11). The owner alone may see all heads, through audit.unsealed().
create policy looking on audit.heads for select to suma_owner using (true);
