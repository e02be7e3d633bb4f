-- A person's state beside the memories, personas, and consolidation in sleep (architecture.md 13).

create table memory.minds (
    tenant_id text not null,
    user_id text not null,
    -- Neuromodulators, from 0 to 1, as they were at `modulated_at`; the requirements give the defaults (S3-06).
    dopamine double precision not null default 0.4,
    serotonin double precision not null default 0.5,
    noradrenaline double precision not null default 0,
    acetylcholine double precision not null default 0,
    modulated_at timestamptz not null default now(),
    -- Older feedback does not count: the person reset it.
    adapted_since timestamptz not null default '-infinity',
    -- Memories up to here are consolidated.
    slept_to timestamptz not null default '-infinity',
    -- Memories from before this time fade.
    faded_to timestamptz not null default '-infinity',
    primary key (tenant_id, user_id)
);

create table memory.personas (
    tenant_id text not null,
    user_id text not null,
    persona_id text not null,
    text text not null,
    updated_at timestamptz not null default now(),
    primary key (tenant_id, user_id, persona_id)
);

create table memory.sleeps (
    tenant_id text not null,
    sleep_id text not null,
    user_id text not null,
    nrem boolean not null,
    rem boolean not null,
    state text not null check (state in ('running', 'done', 'failed', 'undone')),
    scanned int not null default 0,
    merged int not null default 0,
    linked int not null default 0,
    -- `faded_to` of the person before and after, so that an undo can restore it.
    faded_from timestamptz,
    faded_to timestamptz,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (tenant_id, sleep_id)
);
-- One at a time for each person: two would merge the same pairs.
create unique index sleeps_running on memory.sleeps (tenant_id, user_id) where state = 'running';

-- A memory that is forgotten takes its duplicates and its links with it.
-- A merged memory is kept, so that the merge can be undone, and is not recalled.
alter table memory.memories add column merged_into text, add column merged_by text,
    add foreign key (tenant_id, merged_into) references memory.memories (tenant_id, memory_id) on delete cascade;
create index memories_merged on memory.memories (merged_into, tenant_id) where merged_into is not null;
create index memories_by_age on memory.memories (user_id, created_at, memory_id, tenant_id);

create table memory.links (
    tenant_id text not null,
    user_id text not null,
    memory_id text not null,
    other_id text not null,
    likeness double precision not null,
    sleep_id text not null,
    primary key (tenant_id, memory_id, other_id),
    foreign key (tenant_id, memory_id) references memory.memories (tenant_id, memory_id) on delete cascade,
    foreign key (tenant_id, other_id) references memory.memories (tenant_id, memory_id) on delete cascade
);
create index links_other on memory.links (other_id, tenant_id);

-- Feedback is read by person, newest first.
create index feedback_of on memory.feedback (user_id, created_at, tenant_id);
