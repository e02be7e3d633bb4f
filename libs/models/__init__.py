"""Minds: one port, the offline model that needs no network, vendors' models, and a scripted one for tests."""
