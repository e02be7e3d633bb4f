-- Project dead letters for operators. A letter's id is that of the event that reports it.
create or replace function gateway.project_dead_letters(events bus.log[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
    insert into gateway.dlq_messages
        (tenant_id, letter_id, grp, event_id, topic, event_type, event_key, session_id, turn_id, event, code, error, attempts, died_at)
    select e.tenant, e.event_id, e.data ->> 'group', e.data ->> 'event_id', e.data ->> 'event_topic', e.data ->> 'event_type',
        e.data ->> 'event_key', e.headers ->> 'sessionid', e.headers ->> 'turnid', e.data -> 'original', e.data ->> 'code',
        e.data ->> 'error', (e.data ->> 'attempts')::int, (e.headers ->> 'time')::timestamptz
    from unnest(events) as e
    order by e.tenant, e.event_id
    on conflict (tenant_id, letter_id) do nothing
$$;
revoke all on function gateway.project_dead_letters(bus.log[]) from public;
grant execute on function gateway.project_dead_letters(bus.log[]) to suma_bus;
select bus.declare_projection('gateway', 'dlq.events', 'gateway.project_dead_letters');
