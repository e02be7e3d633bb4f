-- What is remembered (architecture.md 13).

create table memory.memories (
    tenant_id text not null,
    memory_id text not null,
    user_id text not null,
    session_id text,
    universe text not null,
    -- Whom it comes back to: isolation is the first condition of every search, and its index.
    scope text not null generated always as (case when universe = 'session' then session_id else user_id end) stored,
    kind text not null,
    text text not null,
    -- Vectors of different embedders are never compared.
    embedder text not null,
    embedding public.vector(768) not null,
    tsv tsvector not null generated always as (to_tsvector('pg_catalog.simple', text)) stored,
    created_at timestamptz not null default now(),
    primary key (tenant_id, memory_id)
) with (toast_tuple_target = 8160);
-- In the row, not in TOAST: a search reads the vector and the words of every memory in its scope.
alter table memory.memories alter column embedding set storage plain;
-- No index over vectors: a scope is one session or one person, and is searched exactly. An approximate index would be searched
-- first and cut to the scope after, and would cost each write a walk through a graph, in the writer's transaction.
-- The tenant stands last: without statistics the planner takes any index that begins with it, for every query.
create index memories_scope on memory.memories (scope, universe, tenant_id);

create table memory.facts (
    tenant_id text not null,
    fact_id text not null,
    user_id text not null,
    key text not null,
    value text not null,
    source text not null check (source in ('auto', 'explicit')),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, fact_id)
);
-- Unique by (tenant, person, key, value); the value by its digest, since a B-tree takes no 2,000 characters.
create unique index facts_said on memory.facts (tenant_id, user_id, key, md5(value));

create table memory.feedback (
    tenant_id text not null,
    feedback_id text not null,
    user_id text not null,
    session_id text,
    subject text not null,
    score double precision not null check (score between -1 and 1),
    comment text not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, feedback_id)
);
