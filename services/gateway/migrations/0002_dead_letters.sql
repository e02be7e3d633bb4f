-- A dead letter is one death of one event in one group, with what became of it: open, replayed or discarded, by whom and why.
alter table gateway.dlq_messages
    add column letter_id text not null default gen_random_uuid()::text,
    add column session_id text,
    add column turn_id text,
    add column state text not null default 'open' check (state in ('open', 'replayed', 'discarded')),
    add column closed_by text,
    add column closed_at timestamptz,
    add column reason text not null default '';
alter table gateway.dlq_messages alter column letter_id drop default;

-- Row-level security hides every row from a migration too: it belongs to no tenant.
alter table gateway.dlq_messages no force row level security;
update gateway.dlq_messages set
    session_id = event #>> '{json,headers,sessionid}', turn_id = event #>> '{json,headers,turnid}';
alter table gateway.dlq_messages force row level security;

alter table gateway.dlq_messages drop constraint dlq_messages_pkey;
alter table gateway.dlq_messages add primary key (tenant_id, letter_id);
create index dlq_messages_newest on gateway.dlq_messages (tenant_id, died_at, letter_id);
create index dlq_messages_open on gateway.dlq_messages (tenant_id, died_at, letter_id) where state = 'open';
