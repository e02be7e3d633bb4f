-- When the history of a commit was removed: from then on it cannot be undone.
alter table executor.journal add column freed_at timestamptz;
create index journal_root on executor.journal (tenant_id, root, at);
