create table echo.turns (
    tenant_id text not null,
    turn_id text not null,
    session_id text,
    text text not null,
    state text not null,
    primary key (tenant_id, turn_id)
);
create table echo.noted (
    tenant_id text not null,
    n bigint generated always as identity,
    grp text not null,
    event_id text not null,
    type text not null,
    key text not null,
    turn_id text,
    primary key (tenant_id, grp, event_id)
);
create table echo.tallies (
    tenant_id text not null,
    name text not null,
    spent int not null check (spent <= 10),
    primary key (tenant_id, name)
);
