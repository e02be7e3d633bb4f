"""A person's memory, shown to this person: lists, searches and corrections; export and erasure of all data."""
