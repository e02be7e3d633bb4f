-- Skills of a workspace's own folder that a person has approved: exactly these bytes, in this folder. Whatever changes
-- a byte has another digest, and is off again.

create table executor.skill_approvals (
    tenant_id text not null,
    root text not null,
    name text not null,
    digest text not null,
    principal text not null,
    approved_at timestamptz not null default now(),
    primary key (tenant_id, root, name)
);
