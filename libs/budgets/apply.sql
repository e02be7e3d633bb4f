-- The window of the calendar, in UTC, that a moment lies in.
create or replace function budgets.spell(span text, moment timestamptz) returns table (name text, until timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
    select span || ' of ' || to_char(began, 'YYYY-MM-DD HH24:MI'), (began + ('1 ' || span)::interval) at time zone 'UTC'
    from date_trunc(span, moment at time zone 'UTC') as began
$$;

-- Keeps room for one call in all three accounts and returns nothing; or, where one has none, keeps nothing and returns
-- which. The limits come in the order turn, session, tenant. The accounts are taken in that order too, here and in settle():
-- a transaction that waits for one holds no later one, and the tenant's, which most calls need, is locked for the shortest time.
create or replace function budgets.reserve(
    tenant text, session text, turn text, span text, id text, about text, tokens bigint, cost bigint,
    most_tokens bigint[], most_cost bigint[])
returns table (kind text, unit text, most bigint, spent bigint, reserved bigint, until timestamptz)
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s' as $$
#variable_conflict use_column
declare
    moment constant timestamptz := bus.now();
    today constant date := (moment at time zone 'UTC')::date;
    kinds constant text[] := array['turn', 'session', 'tenant'];
    names text[];
    ends timestamptz;
    place int;
    a budgets.accounts;
begin
    perform set_config('suma.tenants', array[reserve.tenant]::text, true);
    select array[reserve.turn, reserve.session, s.name], s.until into names, ends from budgets.spell(reserve.span, moment) as s;
    begin
        for n in 1 .. 3 loop
            place := n;
            insert into budgets.accounts as held (tenant_id, kind, name, tokens_reserved, tokens_most, cost_reserved, cost_most, used_on)
            select reserve.tenant, kinds[n], names[n], reserve.tokens, reserve.most_tokens[n], reserve.cost, reserve.most_cost[n], today
            where reserve.tokens <= reserve.most_tokens[n] and reserve.cost <= reserve.most_cost[n]
            on conflict (tenant_id, kind, name) do update
            set tokens_reserved = held.tokens_reserved + reserve.tokens, tokens_most = reserve.most_tokens[n],
                cost_reserved = held.cost_reserved + reserve.cost, cost_most = reserve.most_cost[n], used_on = today
            where held.tokens_spent + held.tokens_reserved + reserve.tokens <= reserve.most_tokens[n]
              and held.cost_spent + held.cost_reserved + reserve.cost <= reserve.most_cost[n];
            if not found then raise exception using errcode = 'SB001'; end if;
        end loop;
        insert into budgets.reservations (tenant_id, id, session, turn, spell, about, tokens, cost, at)
        values (reserve.tenant, reserve.id, reserve.session, reserve.turn, names[3], reserve.about, reserve.tokens, reserve.cost, moment);
        return;
    exception when sqlstate 'SB001' then
        -- The block's rollback undoes the reservations in the accounts before this one.
    end;
    select * into a from budgets.accounts c where c.tenant_id = reserve.tenant and c.kind = kinds[place] and c.name = names[place];
    return query
        select kinds[place], u.unit, u.most, u.spent, u.reserved, case place when 3 then ends end
        from (values
            (1, 'tokens', reserve.most_tokens[place], coalesce(a.tokens_spent, 0), coalesce(a.tokens_reserved, 0), reserve.tokens),
            (2, 'cost', reserve.most_cost[place], coalesce(a.cost_spent, 0), coalesce(a.cost_reserved, 0), reserve.cost)
        ) as u(nth, unit, most, spent, reserved, wanted)
        -- The conflicting call may have settled by now: the refusal of a moment ago still holds.
        order by u.spent + u.reserved + u.wanted <= u.most, u.nth limit 1;
end
$$;

-- Spends the usage of a call and frees the rest, once: false where that was done before. A query plan made while the
-- accounts are few would stay in use when they are many, hence no scans.
create or replace function budgets.settle(tenant text, id text, tokens bigint, cost bigint) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s' set enable_seqscan = off as $$
declare
    today constant date := (bus.now() at time zone 'UTC')::date;
    kinds constant text[] := array['turn', 'session', 'tenant'];
    was budgets.reservations;
    names text[];
begin
    perform set_config('suma.tenants', array[settle.tenant]::text, true);
    delete from budgets.reservations r where r.tenant_id = settle.tenant and r.id = settle.id returning * into was;
    if not found then return false; end if;
    names := array[was.turn, was.session, was.spell];
    for n in 1 .. 3 loop
        update budgets.accounts a
        set tokens_spent = a.tokens_spent + settle.tokens, tokens_reserved = a.tokens_reserved - was.tokens,
            tokens_over = a.tokens_over + greatest(settle.tokens - was.tokens, 0),
            cost_spent = a.cost_spent + settle.cost, cost_reserved = a.cost_reserved - was.cost,
            cost_over = a.cost_over + greatest(settle.cost - was.cost, 0), used_on = today
        where a.tenant_id = settle.tenant and a.kind = kinds[n] and a.name = names[n];
    end loop;
    return true;
end
$$;

-- Frees the turn's share of a call that failed; session and tenant keep theirs. settle() then finds no turn to book it to.
create or replace function budgets.free_turn(tenant text, id text) returns void
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s' set enable_seqscan = off as $$
begin
    perform set_config('suma.tenants', array[free_turn.tenant]::text, true);
    with was as (
        select r.turn, r.tokens, r.cost from budgets.reservations r
        where r.tenant_id = free_turn.tenant and r.id = free_turn.id and r.turn <> '' for update
    ), freed as (
        update budgets.reservations r set turn = '' from was where r.tenant_id = free_turn.tenant and r.id = free_turn.id
    )
    update budgets.accounts a set tokens_reserved = a.tokens_reserved - was.tokens, cost_reserved = a.cost_reserved - was.cost
    from was where a.tenant_id = free_turn.tenant and a.kind = 'turn' and a.name = was.turn;
end
$$;

-- Is an account too old to be used again? A session may continue after a year.
create or replace function budgets.old(kind text, used_on date, today date) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select used_on < today - case kind when 'session' then 400 else 35 end
$$;

-- Reservations whose call cannot be under way any more, of all tenants.
create or replace function budgets.lost(before timestamptz, most int)
returns table (tenant_id text, id text, tokens bigint, cost bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
    select r.tenant_id, r.id, r.tokens, r.cost from budgets.reservations r where r.at < before order by r.at limit most
$$;

-- Tenants that have old accounts.
create or replace function budgets.idle(today date, most int) returns table (tenant_id text)
language sql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
    select distinct old.tenant_id from (
        select a.tenant_id from budgets.accounts a
        where a.used_on < today - 35 and budgets.old(a.kind, a.used_on, today) and a.tokens_reserved = 0 and a.cost_reserved = 0
        order by a.used_on limit most
    ) as old
$$;

-- Forgets some old accounts of a tenant; how many.
create or replace function budgets.forget(tenant text, most int) returns int
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
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
    ) as unused
    where d.tenant_id = unused.tenant_id and d.kind = unused.kind and d.name = unused.name;
    get diagnostics forgotten = row_count;
    return forgotten;
end
$$;

revoke all on function budgets.lost(timestamptz, int), budgets.idle(date, int) from public;
grant execute on function budgets.lost(timestamptz, int), budgets.idle(date, int) to suma_app;
