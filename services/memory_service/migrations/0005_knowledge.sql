-- Knowledge bases: files that a person named, in chunks that a search finds (docs/knowledge.md).

create table memory.knowledge_bases (
    tenant_id text not null,
    base_id text not null,
    -- A person, or * for everyone of the tenant.
    user_id text not null,
    name text not null,
    -- A folder or file of this machine, or skill:NAME.
    source text not null,
    strategy text not null,
    chunk_size int not null check (chunk_size > 0),
    -- The reading that may write: a later one, or a removal, ends an earlier one.
    job text not null,
    state text not null check (state in ('reading', 'ready', 'failed')),
    detail text not null,
    files int not null,
    done int not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, base_id)
);
create unique index knowledge_bases_named on memory.knowledge_bases (tenant_id, user_id, name);

create table memory.knowledge_files (
    tenant_id text not null,
    base_id text not null,
    path text not null,
    -- Size and time with the settings of the chunks: the same stamp needs no reading.
    stamp text not null,
    -- The text with these settings: the same digest needs no new chunks.
    digest text not null,
    chunks int not null,
    -- Why it has no chunks, or not all; empty if it has.
    gap text not null,
    primary key (tenant_id, base_id, path)
);

create table memory.knowledge_chunks (
    tenant_id text not null,
    base_id text not null,
    path text not null,
    place int not null,
    unit text not null check (unit in ('line', 'page')),
    first int not null,
    last int not null,
    text text not null,
    embedder text not null,
    embedding public.halfvec(768) not null,
    tsv tsvector not null generated always as (to_tsvector('pg_catalog.simple', text)) stored,
    primary key (tenant_id, base_id, path, place)
) with (toast_tuple_target = 8160);
-- In the row, not in TOAST: a search reads the vector of every chunk of its bases.
alter table memory.knowledge_chunks alter column embedding set storage plain;
