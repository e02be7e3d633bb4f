"""The bus: an ordered log per partition key, read gaplessly, handled once (bus.md).

Truth is Postgres for every adapter: events are written to `bus.log` in the transaction of the state that they report,
and inbox, parked rows, dead letters and leases live beside it. An adapter only carries records to their readers.
"""
