-- Provenance and validity of memories, vectors of half precision, and indexes of large scopes (decision 0128).

alter table memory.memories
    alter column embedding type public.halfvec(768) using embedding::public.halfvec(768),
    -- Its number in an index, shorter than its id.
    add column number bigint not null generated always as identity,
    -- Its provenance: the event or request that stored it, its turn, and the file or address that it was read from, if any.
    add column event_id text,
    add column if not exists turn_id text,
    add column source text not null default '',
    -- Recalled from and until when.
    add column valid_from timestamptz not null default now(),
    add column valid_to timestamptz,
    add column confidence double precision not null default 1 check (confidence between 0 and 1);
alter table memory.memories alter column embedding set storage plain;
-- Without force, the owner sees the rows of every tenant. It is forced again below.
alter table memory.memories no force row level security;
update memory.memories set valid_from = created_at;

create unique index memories_number on memory.memories (number, tenant_id);
drop index memory.memories_scope;
create index memories_scope on memory.memories (scope, universe, embedder, number, tenant_id);

-- The scopes that have memories, by embedder: a row is written with the first memory, so that a search finds the embedders of its
-- scope in one look. A large scope has an index; a memory that is deleted leaves it by its foreign key.
create table memory.scopes (
    tenant_id text not null,
    universe text not null,
    scope text not null,
    user_id text not null,
    embedder text not null,
    number int not null generated always as identity,
    -- Words that too many memories have: they are compared, but not looked up. Null without an index.
    common text[],
    -- The lists to search for 98 of 100 nearest memories. Null until the index is complete.
    probes int,
    primary key (tenant_id, scope, universe, embedder, user_id)
);
create unique index scopes_number on memory.scopes (number, tenant_id);

-- The centroids of an index. Each memory is in the list of its nearest one.
create table memory.lists (
    tenant_id text not null,
    scope_number int not null,
    list int not null,
    centroid public.halfvec(768) not null,
    primary key (tenant_id, scope_number, list),
    foreign key (tenant_id, scope_number) references memory.scopes (tenant_id, number) on delete cascade
);
alter table memory.lists alter column centroid set storage plain;

-- The memories of the lists: a code is 768 bits, whose Hamming distance approximates the angle of the vectors.
create table memory.codes (
    tenant_id text not null,
    scope_number int not null,
    list int not null,
    number bigint not null,
    bits bit(768) not null,
    primary key (tenant_id, number),
    foreign key (tenant_id, scope_number) references memory.scopes (tenant_id, number) on delete cascade,
    foreign key (tenant_id, number) references memory.memories (tenant_id, number) on delete cascade
-- Index-only scans need the visibility map, so vacuum after 2 % of new rows instead of 20 %.
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create index codes_near on memory.codes (scope_number, list, tenant_id) include (number, bits);

-- The words of the memories of an index that few of them have.
create table memory.rare_words (
    tenant_id text not null,
    scope_number int not null,
    word text not null,
    number bigint not null,
    primary key (tenant_id, number, word),
    foreign key (tenant_id, scope_number) references memory.scopes (tenant_id, number) on delete cascade,
    foreign key (tenant_id, number) references memory.memories (tenant_id, number) on delete cascade
);
create index rare_words_said on memory.rare_words (scope_number, word, tenant_id);

insert into memory.scopes (tenant_id, universe, scope, user_id, embedder)
select distinct tenant_id, universe, scope, user_id, embedder from memory.memories;
alter table memory.memories force row level security;
