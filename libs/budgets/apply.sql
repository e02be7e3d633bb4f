-- The window of the calendar, in UTC, that a moment lies in.
create or replace function budgets.spell(span text, moment timestamptz) returns table (name text, until timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select span || ' of ' || to_char(began, 'YYYY-MM-DD HH24:MI'), (began + ('1 ' || span)::interval) at time zone 'UTC'
    from date_trunc(span, moment at time zone 'UTC') as began
$$;

-- Locks the accounts of one call, always in this order: whoever waits for one holds none that comes after it. The tenant's,
-- which most others want, is held shortest.
create or replace function budgets.lock_accounts(tenant text, turn text, session text, spell text) returns int
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    found_rows int;
begin
    perform from budgets.accounts a
    where a.tenant_id = lock_accounts.tenant
      and (a.kind, a.name) in (('turn', lock_accounts.turn), ('session', lock_accounts.session), ('tenant', lock_accounts.spell))
    order by array_position(array['turn', 'session', 'tenant'], a.kind) for update;
    get diagnostics found_rows = row_count;
    return found_rows;
end
$$;

-- Keeps room for one call in all three accounts and returns nothing; or, where one has none, keeps nothing and returns
-- which. The limits come in the order turn, session, tenant.
create or replace function budgets.reserve(
    tenant text, session text, turn text, span text, id text, about text, tokens bigint, cost bigint,
    most_tokens bigint[], most_cost bigint[])
returns table (kind text, unit text, most bigint, spent bigint, reserved bigint, until timestamptz)
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s' as $$
#variable_conflict use_column
declare
    moment constant timestamptz := bus.now();
    today constant date := (moment at time zone 'UTC')::date;
    spell record;
    names text[];
begin
    perform set_config('suma.tenants', array[reserve.tenant]::text, true);
    select s.name, s.until into spell from budgets.spell(reserve.span, moment) as s;
    names := array[reserve.turn, reserve.session, spell.name];
    insert into budgets.accounts (tenant_id, kind, name, tokens_most, cost_most, used_on)
    select reserve.tenant, w.kind, w.name, w.most_tokens, w.most_cost, today
    from unnest(array['turn', 'session', 'tenant'], names, reserve.most_tokens, reserve.most_cost)
        with ordinality as w(kind, name, most_tokens, most_cost, place)
    order by w.place
    on conflict do nothing;
    if budgets.lock_accounts(reserve.tenant, reserve.turn, reserve.session, spell.name) <> 3 then
        -- Forgotten in this very moment, after years: once more, and they are made anew.
        raise exception 'an account was forgotten meanwhile' using errcode = 'serialization_failure';
    end if;

    return query
        select a.kind, u.unit, u.most, u.spent, u.reserved, case a.kind when 'tenant' then spell.until end
        from unnest(array['turn', 'session', 'tenant'], names, reserve.most_tokens, reserve.most_cost)
            with ordinality as w(kind, name, most_tokens, most_cost, place)
        join budgets.accounts a on a.tenant_id = reserve.tenant and a.kind = w.kind and a.name = w.name
        cross join lateral (values
            (1, 'tokens', w.most_tokens, a.tokens_spent, a.tokens_reserved, reserve.tokens),
            (2, 'cost', w.most_cost, a.cost_spent, a.cost_reserved, reserve.cost)
        ) as u(nth, unit, most, spent, reserved, wanted)
        where u.spent + u.reserved + u.wanted > u.most
        order by w.place, u.nth limit 1;
    if found then return; end if;

    update budgets.accounts a
    set tokens_reserved = a.tokens_reserved + reserve.tokens, tokens_most = w.most_tokens,
        cost_reserved = a.cost_reserved + reserve.cost, cost_most = w.most_cost, used_on = today
    from unnest(array['turn', 'session', 'tenant'], names, reserve.most_tokens, reserve.most_cost)
        as w(kind, name, most_tokens, most_cost)
    where a.tenant_id = reserve.tenant and a.kind = w.kind and a.name = w.name;
    insert into budgets.reservations (tenant_id, id, session, turn, spell, about, tokens, cost, at)
    values (reserve.tenant, reserve.id, reserve.session, reserve.turn, spell.name, reserve.about, reserve.tokens, reserve.cost, moment);
end
$$;

-- Spends what a call has used and frees the rest, once: false where that was done before.
create or replace function budgets.settle(tenant text, id text, tokens bigint, cost bigint) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s' as $$
declare
    was budgets.reservations;
begin
    perform set_config('suma.tenants', array[settle.tenant]::text, true);
    delete from budgets.reservations r where r.tenant_id = settle.tenant and r.id = settle.id returning * into was;
    if not found then return false; end if;
    perform budgets.lock_accounts(settle.tenant, was.turn, was.session, was.spell);
    update budgets.accounts a
    set tokens_spent = a.tokens_spent + settle.tokens, tokens_reserved = a.tokens_reserved - was.tokens,
        tokens_over = a.tokens_over + greatest(settle.tokens - was.tokens, 0),
        cost_spent = a.cost_spent + settle.cost, cost_reserved = a.cost_reserved - was.cost,
        cost_over = a.cost_over + greatest(settle.cost - was.cost, 0), used_on = (bus.now() at time zone 'UTC')::date
    where a.tenant_id = settle.tenant
      and (a.kind, a.name) in (('turn', was.turn), ('session', was.session), ('tenant', was.spell));
    return true;
end
$$;

-- Is an account so old that nobody will use it again? A session may be taken up after a year.
create or replace function budgets.old(kind text, used_on date, today date) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select used_on < today - case kind when 'session' then 400 else 35 end
$$;

-- Reservations whose call cannot be under way any more, of all tenants.
create or replace function budgets.lost(before timestamptz, most int)
returns table (tenant_id text, id text, tokens bigint, cost bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select r.tenant_id, r.id, r.tokens, r.cost from budgets.reservations r where r.at < before order by r.at limit most
$$;

-- Tenants that have old accounts.
create or replace function budgets.idle(today date, most int) returns table (tenant_id text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select distinct old.tenant_id from (
        select a.tenant_id from budgets.accounts a
        where a.used_on < today - 35 and budgets.old(a.kind, a.used_on, today) and a.tokens_reserved = 0 and a.cost_reserved = 0
        order by a.used_on limit most
    ) as old
$$;

-- Forgets some old accounts of a tenant; how many.
create or replace function budgets.forget(tenant text, most int) returns int
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    today constant date := (bus.now() at time zone 'UTC')::date;
    forgotten int;
begin
    perform set_config('suma.tenants', array[forget.tenant]::text, true);
    delete from budgets.accounts d using (
        select a.tenant_id, a.kind, a.name from budgets.accounts a
        where a.tenant_id = forget.tenant and a.used_on < today - 35 and budgets.old(a.kind, a.used_on, today)
          and a.tokens_reserved = 0 and a.cost_reserved = 0
        limit forget.most for update skip locked
    ) as gone
    where d.tenant_id = gone.tenant_id and d.kind = gone.kind and d.name = gone.name;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

revoke all on function budgets.lost(timestamptz, int), budgets.idle(date, int) from public;
grant execute on function budgets.lost(timestamptz, int), budgets.idle(date, int) to suma_app;
