-- Apply the changes of webhooks.
create or replace function gateway.apply_webhooks(changes jsonb) returns int[] language plpgsql as $$
begin
    if changes ? 'push.put' then
        insert into gateway.push_configs as p (tenant_id, turn_id, config_id, principal, session_id, url, token, scheme, credentials,
            base, delivery, credential, oversees, created_at)
        select distinct on (c.tenant_id, c.turn_id, c.config_id) c.tenant_id, c.turn_id, c.config_id, c.principal, c.session_id, c.url,
            c.token, c.scheme, c.credentials, c.base, c.delivery, coalesce(c.credential, ''), coalesce(c.oversees, false), bus.now()
        from jsonb_to_recordset(changes -> 'push.put')
            as c(i int, tenant_id text, turn_id text, config_id text, principal text, session_id text, url text, token text,
                 scheme text, credentials text, base text, delivery text, credential text, oversees boolean)
        order by c.tenant_id, c.turn_id, c.config_id, c.i desc
        on conflict (tenant_id, turn_id, config_id) do update
            set url = excluded.url, token = excluded.token, scheme = excluded.scheme, credentials = excluded.credentials,
                base = excluded.base, delivery = excluded.delivery, credential = excluded.credential, oversees = excluded.oversees,
                created_at = excluded.created_at
            where p.principal = excluded.principal;
    end if;

    if changes ? 'push.drop' then
        delete from gateway.push_configs p
        using jsonb_to_recordset(changes -> 'push.drop') as c(tenant_id text, turn_id text, config_id text, principal text)
        where p.tenant_id = c.tenant_id and p.turn_id = c.turn_id and p.config_id = c.config_id and p.principal = c.principal;
    end if;

    return gateway.numbers(changes, 'push.put', 'push.drop');
end
$$;
