create or replace function echo.apply(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    done int[] := '{}'; part int[];
begin
    if changes ? 'turn.start' then
        insert into echo.turns (tenant_id, turn_id, session_id, text, state)
        select c.tenant_id, c.turn_id, c.session_id, c.text, 'thinking'
        from jsonb_to_recordset(changes -> 'turn.start') as c(tenant_id text, turn_id text, session_id text, text text);
        select array_agg(c.i) into part from jsonb_to_recordset(changes -> 'turn.start') as c(i int);
        done := done || part;
    end if;
    if changes ? 'turn.move' then
        with c as (select * from jsonb_to_recordset(changes -> 'turn.move') as c(i int, tenant_id text, turn_id text, state text, seen text)),
        locked as materialized (
            select c.i, c.state, t.tenant_id, t.turn_id from echo.turns t join c using (tenant_id, turn_id)
            where t.state = c.seen order by t.tenant_id, t.turn_id for update of t
        ), moved as (
            update echo.turns t set state = l.state from locked l where t.tenant_id = l.tenant_id and t.turn_id = l.turn_id returning l.i
        )
        select coalesce(array_agg(i), '{}') into part from moved;
        done := done || part;
    end if;
    -- A shared row: aggregated, or a batch that names it twice would apply one of them.
    if changes ? 'tally.spend' then
        insert into echo.tallies as t (tenant_id, name, spent)
        select c.tenant_id, c.name, sum(c.amount) from jsonb_to_recordset(changes -> 'tally.spend') as c(tenant_id text, name text, amount int)
        group by 1, 2 order by 1, 2
        on conflict (tenant_id, name) do update set spent = t.spent + excluded.spent;
        select array_agg(c.i) into part from jsonb_to_recordset(changes -> 'tally.spend') as c(i int);
        done := done || part;
    end if;
    if changes ? 'noted' then
        insert into echo.noted (tenant_id, grp, event_id, type, key, turn_id)
        select c.tenant_id, c.grp, c.event_id, c.type, c.key, c.turn_id from jsonb_to_recordset(changes -> 'noted')
            as c(tenant_id text, grp text, event_id text, type text, key text, turn_id text);
        select array_agg(c.i) into part from jsonb_to_recordset(changes -> 'noted') as c(i int);
        done := done || part;
    end if;
    return done;
end
$$;

-- Project each event once more: a `wrong` one only for a tenant with the tally `mended`, and all behind the tally `shared`.
create or replace function echo.project(events bus.log[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform from echo.tallies t where t.name = 'shared' order by t.tenant_id for update;
    if exists (
        select from unnest(events) as e where e.data ->> 'text' = 'wrong'
            and not exists (select from echo.tallies t where t.tenant_id = e.tenant and t.name = 'mended')
    ) then
        raise exception 'it says so itself';
    end if;
    insert into echo.projected (tenant_id, event_id, key, what, part, "position")
    select e.tenant, e.event_id, e.key, e.headers ->> 'turnid', e.part, e."position" from unnest(events) as e order by e.part, e."position";
end
$$;
revoke all on function echo.project(bus.log[]) from public;
grant usage on schema echo to suma_bus;
grant execute on function echo.project(bus.log[]) to suma_bus;
