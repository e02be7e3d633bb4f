-- How many turns of a tenant and of a session are open, and how many have ended lately: what admission asks (limits.py).

create index turns_open on gateway.turns (tenant_id, session_id) where ended_at is null;
create index turns_ended on gateway.turns (tenant_id, ended_at) where ended_at is not null;
