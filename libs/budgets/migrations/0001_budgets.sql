-- What a turn, a session and a tenant's window have spent, and what is reserved for calls under way. Amounts are tokens and
-- millionths of a US dollar.
create table budgets.accounts (
    tenant_id text not null,
    kind text not null check (kind in ('turn', 'session', 'tenant')),
    name text not null, -- a turn's or a session's id; of a tenant its window
    tokens_spent bigint not null default 0 check (tokens_spent >= 0),
    tokens_reserved bigint not null default 0 check (tokens_reserved >= 0),
    tokens_over bigint not null default 0 check (tokens_over >= 0), -- used by calls beyond what was reserved for them
    tokens_most bigint not null, -- the limit under which was reserved last
    cost_spent bigint not null default 0 check (cost_spent >= 0),
    cost_reserved bigint not null default 0 check (cost_reserved >= 0),
    cost_over bigint not null default 0 check (cost_over >= 0),
    cost_most bigint not null,
    used_on date not null, -- a day, so that most changes touch no index
    primary key (tenant_id, kind, name),
    -- The promise itself: whatever any code does, no row can say that more was given out than there was.
    constraint tokens_never_overspent check (tokens_spent + tokens_reserved <= tokens_most + tokens_over),
    constraint cost_never_overspent check (cost_spent + cost_reserved <= cost_most + cost_over)
) with (fillfactor = 70);

create index accounts_used on budgets.accounts (used_on);

-- One row for each call that is not settled; it goes when the call is.
create table budgets.reservations (
    tenant_id text not null,
    id text not null,
    session text not null,
    turn text not null,
    spell text not null, -- the tenant's window that pays, also when it has passed meanwhile
    about text not null,
    tokens bigint not null check (tokens >= 0),
    cost bigint not null check (cost >= 0),
    at timestamptz not null,
    primary key (tenant_id, id)
);

create index reservations_old on budgets.reservations (at);

-- Looking for what is old has no tenant yet (bus.md 11). The owner alone may, through budgets.lost() and budgets.idle().
create policy looking on budgets.accounts for select to suma_owner using (true);
create policy looking on budgets.reservations for select to suma_owner using (true);
