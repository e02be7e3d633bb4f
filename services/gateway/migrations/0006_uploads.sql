-- Uploads (docs/decisions/0058). An upload is in `uploads` until its last byte arrived, then in `attachments`.

create table gateway.uploads (
    tenant_id text not null,
    upload_id text not null,
    principal text not null,
    filename text not null,
    media_type text not null,
    sha256 text,
    size bigint not null,
    received bigint not null default 0,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (tenant_id, upload_id)
);

-- The pieces in the store. A row is written before its blob, so that no blob is without a row, whenever the process dies.
create table gateway.upload_parts (
    tenant_id text not null,
    part_id text not null,
    upload_id text not null,
    start bigint not null,
    size bigint not null,
    sha256 text not null,
    stored boolean not null default false,
    primary key (tenant_id, part_id),
    foreign key (tenant_id, upload_id) references gateway.uploads
);
create index upload_parts_upload on gateway.upload_parts (tenant_id, upload_id, start);
create index upload_parts_blob on gateway.upload_parts (tenant_id, sha256);

-- Every blob of uploads. A condemned one has no reference and gets none; the lease `collector` deletes it.
create table gateway.upload_blobs (
    tenant_id text not null,
    sha256 text not null,
    collector text,
    primary key (tenant_id, sha256)
);
create index upload_blobs_condemned on gateway.upload_blobs (tenant_id, collector) where collector is not null;

-- With a principal: an upload, which belongs to no session. It expires unless a message has named it.
alter table gateway.attachments
    alter column session_id drop not null,
    alter column turn_id drop not null,
    add column principal text,
    add column expires_at timestamptz,
    add constraint attachments_owner check ((principal is null) <> (session_id is null));
create index attachments_uploads on gateway.attachments (tenant_id, sha256) where principal is not null;

create table gateway.message_attachments (
    tenant_id text not null,
    turn_id text not null,
    asset_id text not null,
    session_id text not null,
    filename text not null,
    primary key (tenant_id, turn_id, asset_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
create index message_attachments_asset on gateway.message_attachments (tenant_id, asset_id);
