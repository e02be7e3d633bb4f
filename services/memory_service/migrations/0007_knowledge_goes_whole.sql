-- A knowledge base goes with all that was read, also when its person is erased (docs/decisions/0124).
alter table memory.knowledge_files add foreign key (tenant_id, base_id) references memory.knowledge_bases (tenant_id, base_id) on delete cascade;
alter table memory.knowledge_chunks add foreign key (tenant_id, base_id) references memory.knowledge_bases (tenant_id, base_id) on delete cascade;
