"""The build hook of a wheel: put the built web application into it."""

from __future__ import annotations

import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT = "SUMA_WITHOUT_WEB"


class WebApp(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the application, or take the finished build of these sources. An editable install has none."""
        if version == "editable" or os.environ.get(WITHOUT):
            return
        sys.path.insert(0, self.root)
        from deploy.local.cache import Unprovided
        from deploy.local.web import web

        try:
            build_data["force_include"][str(web())] = "services/bundled/web"
        except Unprovided as reason:
            raise SystemExit(f"the web application could not be built ({WITHOUT}=1 leaves it out): {reason}") from None
