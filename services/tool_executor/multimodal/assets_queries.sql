-- name: content(tenant, retention, name)^
-- A content of a retention.
select k.retention, k.name, k.sha256, k.size, k.blob, k.wrapped_key, k.credentials, k.collector
from executor.asset_contents k where k.tenant_id = :tenant and k.retention = :retention and k.name = :name;

-- name: asset(tenant, asset)^
-- An asset with its provenance and its content.
select a.id, a.session_id, a.turn_id, a.call_id, a.asset_type, a.format, a.media_type, a.retention, a.checksum as sha256, a.size,
    a.title, a.width, a.height, a.created_at, a.expires_at, k.blob, k.wrapped_key, k.credentials,
    (to_jsonb(p) - '{tenant_id,asset_id,session_id}'::text[])::text as provenance
from executor.multimodal_assets a
join executor.asset_contents k on k.tenant_id = a.tenant_id and k.retention = a.retention and k.name = a.content
join executor.asset_provenance p on p.tenant_id = a.tenant_id and p.asset_id = a.id
where a.tenant_id = :tenant and a.id = :asset;

-- name: condemned(tenant, collector, most)
-- Contents that this lease is to delete.
select k.retention, k.name, k.blob from executor.asset_contents k
where k.tenant_id = :tenant and k.collector = :collector order by k.retention, k.name limit :most;

-- name: left(tenant, asset)$
-- The seconds until an asset's time comes, at least a minute.
select greatest(60, extract(epoch from a.expires_at - bus.now()))::float8
from executor.multimodal_assets a where a.tenant_id = :tenant and a.id = :asset and a.expires_at is not null;
