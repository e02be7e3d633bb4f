-- The contents of assets, each once for a tenant and class of retention. `name` is the SHA-256 of what was made, and of what its credentials say.
-- A content with a collector is being deleted. Its blob is named `blob`; with a key it is sealed (libs/keys/sealing.py).
create table executor.asset_contents (
    tenant_id text not null,
    retention text not null,
    name text not null,
    sha256 text not null,
    size bigint not null check (size > 0),
    blob text not null,
    wrapped_key text,
    credentials boolean not null,
    used_at timestamptz not null default now(),
    collector text,
    primary key (tenant_id, retention, name)
) with (fillfactor = 80);

-- S3-35. `storage_path` is the blob's place: the class and the name of the content.
create table executor.multimodal_assets (
    tenant_id text not null,
    id text not null,
    session_id text not null,
    turn_id text not null,
    call_id text not null,
    asset_type text not null check (asset_type in ('image', 'document')),
    format text not null,
    media_type text not null,
    retention text not null,
    content text not null,
    storage_path text generated always as ('assets/' || retention || '/' || content) stored,
    checksum text not null,
    size bigint not null,
    title text not null,
    width int not null,
    height int not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    primary key (tenant_id, id),
    foreign key (tenant_id, retention, content) references executor.asset_contents (tenant_id, retention, name)
);
create index multimodal_assets_turn on executor.multimodal_assets (tenant_id, turn_id);
create index multimodal_assets_session on executor.multimodal_assets (tenant_id, session_id);
create index multimodal_assets_content on executor.multimodal_assets (tenant_id, retention, content);

-- S3-39. `anchor` is a signature over the record of the file; `prompt_summary` is the whole prompt only where `prompt_is_full`.
create table executor.asset_provenance (
    tenant_id text not null,
    asset_id text not null,
    session_id text not null,
    request_id text not null,
    execution_id text not null,
    plan_id text not null,
    user_id text not null,
    tool_id text not null,
    provider text not null,
    model text not null,
    params jsonb not null,
    prompt_summary text not null,
    prompt_is_full boolean not null,
    quality float8,
    parents jsonb not null,
    made_from jsonb not null,
    anchor_key text not null,
    anchor text not null,
    primary key (tenant_id, asset_id),
    foreign key (tenant_id, asset_id) references executor.multimodal_assets (tenant_id, id) on delete cascade
);
create index asset_provenance_session on executor.asset_provenance (tenant_id, session_id);
