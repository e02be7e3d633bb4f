-- The gateway's tables. Its functions are in the rooms' apply.sql.

-- Tenants, principals, keys, sign-ins (docs/identity.md). The role that serves requests reads them and notes a key's last use; only
-- the owner's role and suma_directory write them (identity/apply.sql has the grants).
create table gateway.tenants (
    tenant_id text not null,
    name text not null default '',
    created_at timestamptz not null,
    disabled_at timestamptz,
    primary key (tenant_id)
);

create table gateway.principals (
    tenant_id text not null,
    principal_id text not null,
    name text not null default '',
    created_at timestamptz not null,
    disabled_at timestamptz,
    primary key (tenant_id, principal_id),
    foreign key (tenant_id) references gateway.tenants
);

-- A key has one successor: a second rotation of the same key is refused. With a signing key, each request with it is signed.
create table gateway.api_keys (
    tenant_id text not null,
    key_id text not null unique,
    hash text not null,
    principal text not null,
    scopes text[] not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    name text not null default '',
    roles text[] not null default '{}',
    origin text not null default 'admin' check (origin in ('admin', 'file')),
    created_by text not null default '',
    used_at timestamptz,
    signing_key jsonb,
    rotated_at timestamptz,
    primary key (tenant_id, key_id),
    foreign key (tenant_id, principal) references gateway.principals
);

-- The nonces of the last minutes of requests that a key's holder signed.
create table gateway.request_nonces (
    tenant_id text not null,
    key_id text not null,
    nonce text not null,
    at timestamptz not null,
    primary key (tenant_id, key_id, nonce)
);
create index request_nonces_age on gateway.request_nonces (tenant_id, at);

-- A browser that is signed in, as long as its key is valid. The cookie's text is stored only as a hash.
create table gateway.web_sessions (
    tenant_id text not null,
    hash text not null,
    key_id text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz,
    primary key (tenant_id, hash),
    foreign key (tenant_id, key_id) references gateway.api_keys
);
create index web_sessions_hash on gateway.web_sessions (hash);

create table gateway.signin_codes (
    tenant_id text not null,
    hash text not null,
    key_id text not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    primary key (tenant_id, hash),
    foreign key (tenant_id, key_id) references gateway.api_keys
);
create index signin_codes_hash on gateway.signin_codes (hash);

-- A credential is looked up before its tenant is known, and a platform administrator lists tenants. Row-level security is forced on
-- the owner too, so the owner has policies of its own, and the app has one function (gateway.credential).
create policy lookup on gateway.tenants for select to suma_owner using (true);
create policy lookup on gateway.principals for select to suma_owner using (true);
create policy lookup on gateway.api_keys for select to suma_owner using (true);
create policy lookup on gateway.web_sessions for select to suma_owner using (true);
create policy lookup on gateway.signin_codes for select to suma_owner using (true);

-- The answers of requests with an Idempotency-Key.
create table gateway.idempotency (
    tenant_id text not null,
    principal text not null,
    key text not null,
    body_hash text not null,
    receipt jsonb not null,
    at timestamptz not null,
    primary key (tenant_id, principal, key)
);
create index idempotency_age on gateway.idempotency (tenant_id, at);

-- A session; `shared` is null while it is private to its principal, `context` its name in another protocol. The columns of the second
-- index never change, so that an update of a session stays within its page: an id may be derived from a name, and then does not sort
-- by creation.
create table gateway.session_envelopes (
    tenant_id text not null,
    session_id text not null,
    principal text not null,
    title text,
    root text,
    hitl text not null,
    next_seq bigint not null default 1,
    created_at timestamptz not null,
    last_at timestamptz not null,
    shared text check (shared in ('read', 'write')),
    context text,
    primary key (tenant_id, session_id)
) with (fillfactor = 70);
create index session_envelopes_principal on gateway.session_envelopes (tenant_id, principal, session_id);
create index session_envelopes_newest on gateway.session_envelopes (tenant_id, created_at, session_id);

-- One gapless sequence per session, numbered under the session's row: the statement that writes it refuses an event without a session,
-- so no reference checks each row once more.
create table gateway.session_events (
    tenant_id text not null,
    session_id text not null,
    seq bigint not null,
    event_id text not null,
    event_type text not null,
    turn_id text,
    occurred_at timestamptz not null,
    data jsonb not null,
    correlation text,
    causation text,
    primary key (tenant_id, session_id, seq)
);
create index session_events_workspace on gateway.session_events (tenant_id, session_id, seq)
    where event_type = 'suma.workspace.changed.v1';
-- The questions of the turns that a list of tasks shows: few events are any.
create index session_events_clarifications on gateway.session_events (tenant_id, turn_id)
    where event_type = 'suma.clarification.requested.v1';

-- `moved_at` says since when a turn has its state. It has no index, so that an update of it stays within its page; open turns are few,
-- and ended ones are found by `turns_ended`.
create table gateway.turns (
    tenant_id text not null,
    turn_id text not null,
    session_id text not null,
    message_id text,
    text text not null default '',
    state text not null,
    reason text,
    detail text not null default '',
    answer text,
    created_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz,
    moved_at timestamptz,
    primary key (tenant_id, turn_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
) with (fillfactor = 70);
create index turns_session on gateway.turns (tenant_id, session_id, turn_id);
-- The limits of open turns ask for these two (sessions/open_turns.py).
create index turns_open on gateway.turns (tenant_id, session_id) where ended_at is null;
create index turns_ended on gateway.turns (tenant_id, ended_at) where ended_at is not null;
-- A chat is found again by the answers that its client sends back.
create index turns_answer on gateway.turns (tenant_id, md5(answer)) where answer is not null;

-- The inbox of questions to people: open ones have no outcome. `draft` is an answer that is being prepared.
create table gateway.approvals (
    tenant_id text not null,
    approval_id text not null,
    session_id text not null,
    turn_id text not null,
    kind text not null,
    digest text not null,
    data jsonb not null,
    opened_at timestamptz not null,
    expires_at timestamptz not null,
    outcome text,
    principal text,
    reason text,
    closed_at timestamptz,
    draft jsonb,
    primary key (tenant_id, approval_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
create index approvals_open on gateway.approvals (tenant_id, session_id, approval_id) where outcome is null;

-- Files for download (S3-33): name and kind; the content is a blob of the tenant, named by its SHA-256. With a principal it is an upload,
-- which belongs to no session, and expires unless a message has named it.
create table gateway.attachments (
    tenant_id text not null,
    asset_id text not null,
    session_id text,
    turn_id text,
    filename text not null,
    media_type text not null,
    sha256 text not null,
    size bigint not null,
    created_at timestamptz not null,
    principal text,
    expires_at timestamptz,
    metadata text,
    primary key (tenant_id, asset_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes,
    constraint attachments_owner check ((principal is null) <> (session_id is null))
);
create index attachments_uploads on gateway.attachments (tenant_id, sha256) where principal is not null;
create index attachments_turn on gateway.attachments (tenant_id, turn_id) where turn_id is not null;

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

-- Uploads (docs/decisions/0058) until their last byte arrived; then they are attachments. `metadata` is as their clients sent it: tus
-- returns it with the offset.
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
    metadata text,
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

-- A dead letter is one death of one event in one group; `state` and the columns after it say whether it was closed, by whom and why.
create table gateway.dlq_messages (
    tenant_id text not null,
    grp text not null,
    event_id text not null,
    topic text not null,
    event_type text not null,
    event_key text not null,
    event jsonb not null,
    code text not null,
    error text not null,
    attempts int not null,
    died_at timestamptz not null,
    letter_id text not null,
    session_id text,
    turn_id text,
    state text not null default 'open' check (state in ('open', 'replayed', 'discarded')),
    closed_by text,
    closed_at timestamptz,
    reason text not null default '',
    primary key (tenant_id, letter_id)
);
create index dlq_messages_newest on gateway.dlq_messages (tenant_id, died_at, letter_id);
create index dlq_messages_open on gateway.dlq_messages (tenant_id, died_at, letter_id) where state = 'open';

-- The webhooks of A2A clients for a task's updates (docs/connect/a2a.md). `delivery` is the lease that calls one; another one, of an
-- earlier version of this row, stops. A webhook is called only while its principal may see the task: `credential` is the key with which
-- it was added, and `oversees` whether that principal saw the sessions of others.
create table gateway.push_configs (
    tenant_id text not null,
    turn_id text not null,
    config_id text not null,
    principal text not null,
    session_id text not null,
    url text not null,
    token text not null,
    scheme text not null,
    credentials text not null,
    base text not null,
    delivery text not null,
    created_at timestamptz not null,
    credential text not null default '',
    oversees boolean not null default false,
    primary key (tenant_id, turn_id, config_id),
    foreign key (tenant_id, session_id) references gateway.session_envelopes
);
