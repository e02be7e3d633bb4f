"""Real models: OpenAI's chat completions and compatible servers, Ollama, Anthropic (architecture.md 12). Loaded only
where one is configured: the libraries take seconds and memory that the offline model does not need.

`client` opens a vendor's model, and `transport` limits its HTTP responses. `prompts` renders the input, `replies`
parses the output. `model_call` makes one call within its limits, `pricing` computes its cost, and `model` is the port.
"""

from libs.models.vendors.client import Bounds, opened
from libs.models.vendors.model import VendorModel
from libs.models.vendors.pricing import Price

__all__ = ["Bounds", "Price", "VendorModel", "opened"]
