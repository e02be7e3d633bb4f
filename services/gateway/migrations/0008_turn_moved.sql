-- When a turn got its current state: what A2A shows as the time of a task's status, and sorts tasks by. It has no index, so that
-- an update of it stays within its page; open turns are few, and ended ones are found by `turns_ended`.
alter table gateway.turns add column moved_at timestamptz;

-- The files of a turn.
create index attachments_turn on gateway.attachments (tenant_id, turn_id) where turn_id is not null;
