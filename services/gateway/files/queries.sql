-- name: asset_by_id(tenant, asset, reader)^
-- A file that a reader sees: an upload of its own, or a file of a session that it sees, where a step made it or a message names it.
select a.asset_id, a.session_id, a.turn_id, a.filename, a.media_type, a.sha256, a.size, a.principal
from gateway.attachments a
where a.tenant_id = :tenant and a.asset_id = :asset and (
    cast(:reader as text) is null or a.principal = :reader or exists (
        select from (
            select a.session_id
            union all
            select m.session_id from gateway.message_attachments m where m.tenant_id = a.tenant_id and m.asset_id = a.asset_id
        ) as n
        join gateway.session_envelopes s on s.tenant_id = a.tenant_id and s.session_id = n.session_id
        where s.principal = :reader or s.shared is not null
    )
);

-- name: upload_by_id(tenant, principal, upload)^
-- A principal's upload: under way, or complete (then `received` is its size and `sha256` is verified).
select o.upload_id, o.filename, o.media_type, o.size, o.received, o.sha256, false as complete, o.expires_at, o.metadata
from gateway.uploads o where o.tenant_id = :tenant and o.upload_id = :upload and o.principal = :principal
union all
select a.asset_id, a.filename, a.media_type, a.size, a.size, a.sha256, true, a.expires_at, a.metadata
from gateway.attachments a where a.tenant_id = :tenant and a.asset_id = :upload and a.principal = :principal;

-- name: upload_parts(tenant, upload)
-- The stored pieces of an upload, in order.
select sha256 from gateway.upload_parts
where tenant_id = :tenant and upload_id = :upload and stored order by start;

-- name: upload_usage(tenant)^
select files, bytes from gateway.upload_usage(:tenant);

-- name: upload_left(tenant, upload)$
-- Seconds until an upload expires; null when it is gone or in use.
select extract(epoch from expires_at - bus.now())::float8 from (
    select o.expires_at from gateway.uploads o where o.tenant_id = :tenant and o.upload_id = :upload
    union all
    select a.expires_at from gateway.attachments a
    where a.tenant_id = :tenant and a.asset_id = :upload and a.principal is not null and a.expires_at is not null
) as u;

-- name: condemned_blobs(tenant, collector, most)
select sha256 from gateway.upload_blobs where tenant_id = :tenant and collector = :collector order by sha256 limit :most;
