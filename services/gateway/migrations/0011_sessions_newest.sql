-- A tenant's sessions by creation: an id may be derived from a name, and then does not sort by it. Neither column ever changes, so
-- that an update of a session stays within its page.
create index session_envelopes_newest on gateway.session_envelopes (tenant_id, created_at, session_id);
