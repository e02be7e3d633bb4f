-- The name that an A2A client gave a session that it opened: its own tasks carry it.
alter table gateway.session_envelopes add column context text;
