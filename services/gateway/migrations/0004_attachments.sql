-- What people may fetch as a file (S3-33): its name and kind; the content is a blob of the tenant, named by its SHA-256.
create table gateway.attachments (
    tenant_id text not null,
    asset_id text not null,
    session_id text not null,
    turn_id text not null,
    filename text not null,
    media_type text not null,
    sha256 text not null,
    size bigint not null,
    created_at timestamptz not null,
    primary key (tenant_id, asset_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
