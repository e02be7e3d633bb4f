"""Surfaces of other protocols over the gateway's turns (DESIGN §13). Each is imported on its first request."""
