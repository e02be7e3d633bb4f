-- Events of the transaction's tenants by their places in the log, for an apply that needs what an event says: its input then
-- names the place instead of repeating the data. An event that is not there (trimmed, or another's place) is left out.
create function bus.recorded(wanted text, parts int[], positions bigint[]) returns setof bus.log
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine constant text[] := bus.tenants();
begin
    -- One lookup by the whole key per place: a plain join may read all of the topic.
    return query select g.* from unnest(parts, positions) as w(part, position)
    cross join lateral (
        select l.* from bus.log l where l.topic = wanted and l.part = w.part and l.position = w.position offset 0
    ) as g
    where g.tenant = any (mine);
end
$$;
revoke all on function bus.recorded(text, int[], bigint[]) from public;
grant execute on function bus.recorded(text, int[], bigint[]) to suma_app, suma_owner;

-- Guard every item of a batch: seen (its id is in the inbox), lost (its lease has moved on), behind (its key is parked), else
-- fresh. An item without `urgent` is not urgent, and one without a state is done. The usual batch has fresh items alone, which
-- two small statements find out; leases are locked before inbox rows, each in the order of their keys.
create or replace function bus.guard(items jsonb) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    usual constant bus.item := row (null, null, null, null, null, null, null, null, false, null, 'done');
    moment constant timestamptz := bus.now();
    mine constant text[] := bus.tenants();
    rows bus.item[]; held int[] := '{}'; once int[]; fresh int[]; lost int[]; mixed int[];
    foreign_row boolean; parks boolean; leased boolean; written int;
begin
    select array_agg(i), bool_or((i.tenant = any (mine)) is not true), bool_or(i.parked is not null or i.state <> 'done'), bool_or(i.lease is not null)
    into rows, foreign_row, parks, leased from jsonb_populate_recordset(usual, items) as i;
    if foreign_row then
        raise exception 'a row names a tenant outside the transaction''s set' using errcode = '42501';
    end if;
    if parks or exists (select from bus.parked p where p.state = 'parked') then
        return bus.guard_parked((select jsonb_agg(i) from unnest(rows) as i));
    end if;

    if leased then
        select coalesce(array_agg(f.n), '{}') into held from (
            select i.n from unnest(rows) as i
            join bus.leases l on l.id = i.lease and l.token = i.token and l.grp = i.grp and l.tenant = i.tenant
            order by l.id for update of l
        ) as f;
    end if;
    with first as (
        insert into bus.inbox as b (grp, id, tenant, state, at)
        select i.grp, i.id, i.tenant, 'done', moment from unnest(rows) as i
        where i.lease is null or i.n = any (held) order by i.grp, i.id
        on conflict do nothing returning b.grp, b.id
    )
    -- The same input twice in one batch is answered once.
    select coalesce(array_agg(o.n), '{}'), coalesce(sum(o.inputs), 0) into once, written from (
        select min(i.n) as n, count(*) as inputs from unnest(rows) as i join first f using (grp, id) group by grp, id
    ) as o;
    if leased then
        delete from bus.leases l where l.id in (
            select i.lease from unnest(rows) as i where i.n = any (held) and i.n = any (once)
        );
    end if;
    if written = cardinality(rows) and cardinality(once) = written then
        return (select jsonb_object_agg(i.n, 'fresh') from unnest(rows) as i);
    end if;

    select coalesce(array_agg(distinct o.n), '{}') into fresh from unnest(once) as o(n);
    -- Inputs that were gathered into one changeset are answered together or one by one, never in part.
    select array_agg(g.n) into mixed from (
        select i.n, count(*) as inputs, (select count(*) from unnest(once) as o(n) where o.n = i.n) as answered
        from unnest(rows) as i group by i.n having count(*) > 1
    ) as g where g.answered not in (0, g.inputs);
    if mixed is not null then
        raise exception 'some of the inputs of one changeset were answered before' using errcode = 'SU001', detail = mixed::text;
    end if;
    -- What a lost answer hides: our own finish took the lease, and its inbox row says so.
    select coalesce(array_agg(i.n), '{}') into lost from unnest(rows) as i
    where i.lease is not null and i.n <> all (held) and not exists (select from bus.inbox b where b.grp = i.grp and b.id = i.id);
    return (
        select jsonb_object_agg(i.n, case when i.n = any (fresh) then 'fresh' when i.n = any (lost) then 'lost' else 'seen' end)
        from unnest(rows) as i
    );
end
$$;
