-- What a person has prepared as the answer to an open question: every tab and device of the session shows it.
alter table gateway.approvals add column draft jsonb;
