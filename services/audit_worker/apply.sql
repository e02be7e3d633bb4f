-- Apply every write of the audit worker: its seals. The function runs with its owner's rights, as services only read the tables.
create or replace function audit.apply(changes jsonb) returns int[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    -- seal: store a checkpoint, signed over a committed head. Two workers may seal the same head.
    if changes ? 'seal' then
        insert into audit.checkpoints (tenant_id, count, head, time, key_id, signature)
        select s.tenant_id, s.count, s.head, s.time, s.key_id, s.signature from jsonb_to_recordset(changes -> 'seal')
            as s(tenant_id text, count bigint, head text, time text, key_id text, signature text)
        order by s.tenant_id, s.count
        on conflict do nothing;
        update audit.heads h set sealed = greatest(h.sealed, s.count), since = greatest(h.since, s.time)
        from (
            select s.tenant_id, max(s.count) as count, max(s.time) as time
            from jsonb_to_recordset(changes -> 'seal') as s(tenant_id text, count bigint, time timestamptz) group by s.tenant_id
        ) as s where h.tenant_id = s.tenant_id;
    end if;
    return array(select (s ->> 'i')::int from jsonb_array_elements(changes -> 'seal') as s);
end
$$;

-- Return the chains of all tenants with records that no checkpoint covers: ids and counts, no content.
create or replace function audit.unsealed() returns table (tenant_id text, count bigint, link bytea, sealed bigint, since timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select h.tenant_id, h.count, h.link, h.sealed, h.since from audit.heads h where h.count > h.sealed order by h.since
$$;
revoke all on function audit.unsealed() from public;
grant execute on function audit.unsealed() to suma_app;

revoke all on function audit.apply(jsonb) from public;
grant execute on function audit.apply(jsonb) to suma_app;
revoke insert, update, delete on audit.audit_events, audit.checkpoints, audit.heads from suma_app;
