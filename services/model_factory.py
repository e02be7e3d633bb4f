"""The model factory: creates the configured model with its key, limits and price; all real models come from here.

A vendor's libraries are imported only for its own models, in a thread: they take seconds.
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
    from libs.objects import Objects
    from libs.resilience import GuardedCall

GUARD = "model"


def chosen(settings: Process, name: str | None = None) -> Choice | None:
    """Return the configured model, or the named one; None for the offline model. Raises `BadSettings`."""
    text = name or settings.model
    if text == choice.OFFLINE:
        return None
    key = choice.Key(settings.model_key, settings.model_key_file, os.environ)
    try:
        return choice.chosen(
            text, url=settings.model_url, key=key, output=settings.model_output, pictures=settings.model_pictures
        )
    except choice.BadModel as wrong:
        raise BadSettings(str(wrong)) from None


@asynccontextmanager
async def vendor(
    settings: Process, which: Choice
) -> AsyncIterator[Callable[[GuardedCall, Budgets | None, Objects | None], VendorModel]]:
    """Yield a function that creates the model behind a guard, paid for from these budgets, with the pictures that are
    kept in these objects. Nothing is sent yet.
    """
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
        yield lambda guard, budgets, objects: VendorModel(
            line, guard, price=price, now=now, budgets=budgets, load=objects.get if objects is not None else None
        )


def _price(settings: Process, which: Choice) -> Price | None:
    from libs.models.vendors import Price

    if settings.model_input_price is not None and settings.model_output_price is not None:
        return Price(settings.model_input_price, settings.model_output_price)
    return Price(0, 0) if which.provider.free else None
