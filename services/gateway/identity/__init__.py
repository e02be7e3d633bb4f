"""Identity: credentials become principals; keys, tenants, sign-in."""
