-- The bus on Postgres (docs/bus.md): the log, its readers, what was handled, and what waits. Its functions are in functions.sql.
-- Owner: suma_bus. Services (suma_app) may only execute; they have no grant on any table here.

-- How far the clock is moved: tests let leases run out without waiting.
create table bus.clock (
    one boolean primary key default true check (one),
    shift interval not null default interval '0'
);
insert into bus.clock default values;

-- The next position of each partition. Locked in ascending order by every commit, so positions are dense.
create table bus.heads (
    topic text not null,
    part int not null,
    next bigint not null default 1,
    primary key (topic, part)
) with (fillfactor = 50);

-- Every event, also on Kafka, whose relay reads it.
create table bus.log (
    topic text not null,
    part int not null,
    position bigint not null,
    event_id text not null,
    tenant text not null,
    key text not null,
    type text not null,
    headers jsonb not null,
    data jsonb not null,
    at timestamptz not null,
    primary key (topic, part, position)
);

-- How far each group has read: a hint that lags behind the inbox, which decides.
create table bus.offsets (
    grp text not null,
    topic text not null,
    part int not null,
    position bigint not null,
    primary key (grp, topic, part)
) with (fillfactor = 50);

-- The processes that read for a group, and when each was last heard of.
create table bus.members (
    grp text not null,
    member text not null,
    seen_at timestamptz not null,
    primary key (grp, member)
);

-- Which member reads which partition, until when. Two owners at once are harmless: the inbox decides.
create table bus.partitions (
    grp text not null,
    topic text not null,
    part int not null,
    member text,
    token bigint not null default 0,
    due_at timestamptz not null,
    primary key (grp, topic, part)
);

-- What a group has handled: one row for each input, written with its changeset.
create table bus.inbox (
    grp text not null,
    id text not null,
    tenant text not null,
    state text not null check (state in ('done', 'parked', 'dead')),
    at timestamptz not null,
    primary key (grp, id)
);

-- Events that failed, and those of the same key and topic behind them; and the dead ones, which a person decides about.
create table bus.parked (
    grp text not null,
    topic text not null,
    key text not null,
    seq bigint generated always as identity,
    event_id text not null,
    tenant text not null,
    type text not null,
    headers jsonb not null,
    data jsonb not null,
    attempts int not null default 0,
    since timestamptz not null,
    due_at timestamptz not null,
    state text not null check (state in ('parked', 'dead')),
    error text not null,
    primary key (grp, topic, key, seq)
);
create unique index parked_event on bus.parked (grp, event_id);
create index parked_due on bus.parked (grp, due_at) where state = 'parked';
create index parked_key on bus.parked (grp, topic, key) where state = 'parked';
create index parked_tenant on bus.parked (tenant, state, since);

-- Long work and every wait, each held by at most one process under a growing token.
create table bus.leases (
    id text primary key,
    grp text not null,
    kind text not null,
    tenant text not null,
    key text not null,
    owner text,
    token bigint not null default 0,
    due_at timestamptz not null,
    cancelled boolean not null default false,
    attempts int not null default 0,
    input jsonb not null,
    deaths int not null default 0,
    since timestamptz not null default now()
);
create index leases_due on bus.leases (grp, kind, due_at);
create index leases_tenant on bus.leases (grp, kind, tenant, due_at);
create index leases_owner on bus.leases (owner) where owner is not null;

-- Begun and not ended, of events that another process may have had in hand before. A row outlives its event: the inbox decides.
create table bus.begun (
    grp text not null,
    event_id text not null,
    times int not null,
    at timestamptz not null,
    primary key (grp, event_id)
);

-- All records up to this position were trimmed. Beside the heads, not in them: the hot path locks those.
create table bus.floors (
    topic text not null,
    part int not null,
    position bigint not null,
    primary key (topic, part)
) with (fillfactor = 50);

-- What is old is found without reading what is not. Rows of one batch share their time, so that the index stays small.
create index inbox_age on bus.inbox (grp, at) where state = 'done';

-- Both lose as many rows as they gain: their space is to be found again soon.
alter table bus.log set (autovacuum_vacuum_scale_factor = 0.05);
alter table bus.inbox set (autovacuum_vacuum_scale_factor = 0.05);

-- One changeset of a batch: the inbox row that it becomes, the lease that it finishes, the parked row that it retries.
create type bus.item as (
    n int, grp text, id text, tenant text, key text, topic text, lease text, token bigint, urgent boolean, parked bigint, state text
);
