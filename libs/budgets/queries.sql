-- name: reserve(tenant, session, turn, span, id, about, tokens, cost, most_tokens, most_cost)^
-- Keep room for a call; a row only where there is none.
select * from budgets.reserve(:tenant, :session, :turn, :span, :id, :about, :tokens, :cost, :most_tokens, :most_cost);

-- name: settle(tenant, id, tokens, cost)$
-- Spend the usage of a call, once.
select budgets.settle(:tenant, :id, :tokens, :cost);

-- name: free_turn(tenant, id)$
-- Free the turn's share of a failed call.
select budgets.free_turn(:tenant, :id);

-- name: accounts(tenant, session, span)
-- The accounts of a tenant's window and of a session. An unused one has no balance, only the window's end.
with spell as (select * from budgets.spell(:span, bus.now()))
select wanted.kind, wanted.until, a.tokens_spent, a.tokens_reserved, a.cost_spent, a.cost_reserved
from (select 'tenant' as kind, name, until from spell union all select 'session', :session::text, null where :session::text is not null) as wanted
left join budgets.accounts a on a.tenant_id = :tenant and a.kind = wanted.kind and a.name = wanted.name;

-- name: lost(seconds, most)
-- Reservations whose call cannot be under way any more, of all tenants.
select tenant_id as tenant, id, tokens, cost from budgets.lost(bus.now() - make_interval(secs => :seconds), :most);

-- name: idle(most)
-- Tenants that have old accounts.
select tenant_id as tenant from budgets.idle((bus.now() at time zone 'UTC')::date, :most);

-- name: forget(tenant, most)$
-- Forget some of them.
select budgets.forget(:tenant, :most);
