-- The rights of suma_directory, where there is this role: it writes tenants, principals, keys and sign-ins (directory.py). The
-- gateway's own role must become it first, so that nothing else that a request reaches in SQL can make a credential.
do $$
begin
    if to_regrole('suma_directory') is null then
        return;
    end if;
    grant usage on schema gateway to suma_directory;
    grant select, insert, update, delete
        on gateway.tenants, gateway.principals, gateway.api_keys, gateway.web_sessions, gateway.signin_codes to suma_directory;
    if not exists (select from pg_policies where schemaname = 'gateway' and tablename = 'tenants' and policyname = 'directory') then
        create policy directory on gateway.tenants for select to suma_directory using (true);
    end if;
end
$$;
