-- Apply every write of the gateway, room by room: one statement per kind of change, over all rows of the batch. Return the numbers
-- (i) of the applied changes; a missing number is a conflict of its changeset.
create or replace function gateway.apply(changes jsonb) returns int[] language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    return gateway.apply_requests(changes) || gateway.apply_identity(changes) || gateway.apply_sessions(changes)
        || gateway.apply_files(changes) || gateway.apply_operators(changes) || gateway.apply_webhooks(changes)
        || gateway.apply_erasures(changes);
end
$$;

-- The numbers of changes that depend on no version: they are safe to repeat, or belong to a session whose row is locked.
create or replace function gateway.numbers(changes jsonb, variadic kinds text[]) returns int[]
language plpgsql immutable as $$
begin
    if not changes ?| kinds then
        return '{}';
    end if;
    return array(select (c ->> 'i')::int from unnest(kinds) as kind cross join jsonb_array_elements(changes -> kind) as c);
end
$$;
