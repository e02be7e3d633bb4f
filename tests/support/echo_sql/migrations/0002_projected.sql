create table echo.projected (
    tenant_id text not null,
    n bigint generated always as identity,
    event_id text not null,
    key text not null,
    what text,
    part int not null,
    "position" bigint not null
);
