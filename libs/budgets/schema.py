"""The schema of the accounts, with row-level security between tenants."""

from __future__ import annotations

from pathlib import Path

from libs.database import Schema
from libs.events.topics import COMMITTEE, CONVERSATION, EXECUTOR, GATEWAY

HERE = Path(__file__).parent
USERS = (GATEWAY, CONVERSATION, COMMITTEE, EXECUTOR)
"""The services that call a model or a paid provider, and the one that shows what they spent and trims."""
SCHEMA = Schema("budgets", HERE / "migrations", [HERE / "apply.sql"], users=USERS)
