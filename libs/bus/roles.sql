-- The rights of the services' own roles, as far as there are such roles; run at each migration, because roles may be new. A
-- service executes what runs with the rights of the bus's owner, and has no table here. Only the gateway trims, and shows what
-- waits; one process alone frees leases, so that no role may.
do $$
declare
    name text; function regprocedure;
begin
    for name, function in
        select r.rolname, p.oid from pg_roles r cross join pg_proc p
        where p.pronamespace = 'bus'::regnamespace and (p.prosecdef or p.proname in ('tenants', 'refuse_other_tenants', 'commit', 'tables_with', 'erase', 'held'))
          and r.rolname in ('suma_directory', 'suma_gateway', 'suma_conversation_worker', 'suma_committee_worker', 'suma_tool_executor',
                            'suma_audit_worker', 'suma_memory_service')
          and (r.rolname <> 'suma_directory' or p.proname = 'now')
          and p.proname <> 'declare_projection'
          and (r.rolname = 'suma_gateway' or p.proname not in ('waiting', 'forget_begun', 'trim_inbox', 'trim_log'))
    loop
        execute format('grant usage on schema bus to %I', name);
        execute format('grant select on bus.migrations to %I', name);
        execute format('grant execute on function %s to %I', function, name);
    end loop;
end
$$;
