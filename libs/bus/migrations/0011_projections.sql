-- Projections (docs/decisions/0120): the function of a group that projects a topic.
create table bus.projections (
    grp text not null,
    topic text not null,
    function text not null,
    primary key (grp, topic)
);

-- A projection's cursor is no hint: readers do not move it.
alter table bus.offsets add column projected boolean not null default false;

-- The records that one commit appended to a partition: after a position, up to another.
create type bus.span as (topic text, part int, after bigint, upto bigint);
