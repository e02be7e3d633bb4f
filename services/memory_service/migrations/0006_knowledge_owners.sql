-- The owner on each file and chunk of a knowledge base, so that what is erased or exported of a person has them, too.
alter table memory.knowledge_files add column user_id text;
update memory.knowledge_files f set user_id = b.user_id from memory.knowledge_bases b
where f.tenant_id = b.tenant_id and f.base_id = b.base_id;
delete from memory.knowledge_files where user_id is null;
alter table memory.knowledge_files alter column user_id set not null;

alter table memory.knowledge_chunks add column user_id text;
update memory.knowledge_chunks c set user_id = b.user_id from memory.knowledge_bases b
where c.tenant_id = b.tenant_id and c.base_id = b.base_id;
delete from memory.knowledge_chunks where user_id is null;
alter table memory.knowledge_chunks alter column user_id set not null;
