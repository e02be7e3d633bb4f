-- A chat is found again by the answers that its client sends back.
create index turns_answer on gateway.turns (tenant_id, md5(answer)) where answer is not null;
