"""Which model thinks: the settings' choice, with its key, bounds and price. Whoever needs a real model gets it here.

The libraries of the vendors are imported only for a model that is theirs, in a thread: they take seconds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from libs.clock import SystemClock
from libs.models import choice
from libs.models.choice import Choice
from services.settings import BadSettings, Process

if TYPE_CHECKING:
    from libs.budgets import Budgets
    from libs.models.vendors import Price, VendorModel
    from libs.outbound import Door

DOOR = "model"


def chosen(settings: Process, name: str | None = None) -> Choice | None:
    """The configured model, or the one that is named; None for the offline one. Raises `BadSettings`."""
    text = name or settings.model
    if text == choice.OFFLINE:
        return None
    key = choice.Key(settings.model_key, settings.model_key_file, os.environ)
    try:
        return choice.chosen(text, url=settings.model_url, key=key, output=settings.model_output)
    except choice.BadModel as wrong:
        raise BadSettings(str(wrong)) from None


@asynccontextmanager
async def vendor(settings: Process, which: Choice) -> AsyncIterator[Callable[[Door, Budgets | None], VendorModel]]:
    """The model behind whatever door it is given, paid for from these accounts. Nothing is sent yet."""
    await asyncio.to_thread(import_module, "libs.models.vendors")
    from libs.models.vendors import Bounds, VendorModel, opened

    bounds = Bounds(
        first=settings.model_first_seconds,
        pause=settings.model_pause_seconds,
        whole=settings.model_seconds,
        output_tokens=settings.model_output_tokens,
        input_letters=settings.model_input_letters,
    )
    price, now = _price(settings, which), SystemClock().now
    async with opened(which, bounds) as line:
        yield lambda door, budgets: VendorModel(line, door, price=price, now=now, budgets=budgets)


def _price(settings: Process, which: Choice) -> Price | None:
    from libs.models.vendors import Price

    if settings.model_input_price is not None and settings.model_output_price is not None:
        return Price(settings.model_input_price, settings.model_output_price)
    return Price(0, 0) if which.provider.free else None
