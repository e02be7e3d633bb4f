-- A key has one successor: a second rotation of the same key is refused.
alter table gateway.api_keys add column rotated_at timestamptz;

-- A webhook is told only while its principal may see the task: with which key it was added, and whether that principal saw the
-- sessions of others.
alter table gateway.push_configs
    add column credential text not null default '',
    add column oversees boolean not null default false;
