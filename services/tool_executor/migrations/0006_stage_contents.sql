-- Whether the stage's turn has stored contents beside the log: they are deleted once the stage has ended.
alter table executor.stages add column contents boolean not null default false;
