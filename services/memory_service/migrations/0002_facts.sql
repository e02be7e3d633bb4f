-- Facts by subject and setting, with their history (architecture.md 13).
-- The table is made anew: in the release before, no caller wrote it.

drop table memory.facts;

create table memory.facts (
    tenant_id text not null,
    fact_id text not null,
    user_id text not null,
    -- A setting is a subject and a key. A forgotten fact has neither, and no value.
    subject text not null,
    key text not null,
    value text not null,
    -- Whether the setting holds this value beside others.
    many boolean not null,
    -- `superseded` was true from valid_from to valid_to; `invalidated` is not known to have been true, or was forgotten.
    state text not null check (state in ('active', 'superseded', 'invalidated')),
    source text not null check (source in ('person', 'extraction', 'tool')),
    confidence double precision not null check (confidence between 0 and 1),
    valid_from timestamptz not null,
    valid_to timestamptz,
    replaced_by text,
    -- Where it comes from.
    event_id text,
    turn_id text,
    session_id text,
    -- The marks of its session when it was stated.
    private boolean not null,
    untrusted boolean not null,
    secret boolean not null,
    forgotten_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, fact_id)
);
-- The value by its digest, since a B-tree takes no 2,000 characters.
create unique index facts_true on memory.facts (tenant_id, user_id, subject, key, md5(value)) where state = 'active';
create index facts_setting on memory.facts (user_id, subject, key, tenant_id);

-- The turn that a memory was made in: forgetting a fact removes the memories of the turn that stated it.
alter table memory.memories add column turn_id text;
create index memories_turn on memory.memories (turn_id, tenant_id) where turn_id is not null;
