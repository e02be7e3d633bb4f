-- Tools of other servers that an operator has approved: exactly this description, for the whole deployment. The servers
-- are part of the deployment's settings, so the approvals have no tenant.

create table executor.tool_approvals (
    tool text primary key,
    digest text not null,
    definition jsonb not null,
    principal text not null,
    approved_at timestamptz not null default now()
);
