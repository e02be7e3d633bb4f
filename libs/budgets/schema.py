"""The schema of the accounts, with row-level security between tenants."""

from __future__ import annotations

from pathlib import Path

from libs.database import Schema
from libs.events.topics import COMMITTEE, CONVERSATION, GATEWAY

HERE = Path(__file__).parent
USERS = (GATEWAY, CONVERSATION, COMMITTEE)
"""The services that call a model, and the one that shows what they spent and trims."""
SCHEMA = Schema("budgets", HERE / "migrations", [HERE / "apply.sql"], users=USERS)
