"""Real models: any that speaks OpenAI's chat completions, Ollama, Anthropic (DESIGN §11). Loaded only where one is
configured: the libraries take seconds and memory that the offline model does not need.

`prompts` has the words, `replies` reads what comes back, `line` carries one call with all its bounds, `opening` knows
the vendors, `model` is the port.
"""

from libs.models.vendors.model import VendorModel
from libs.models.vendors.opening import Bounds, opened
from libs.models.vendors.prices import Price

__all__ = ["Bounds", "Price", "VendorModel", "opened"]
