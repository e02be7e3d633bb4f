"""The turn runner: a whole turn of an agent in one container, as a model (S1-04, S1-05, S1-12 to S1-22; decision 0114).

A container gets `/turn/input.json`, asks for tools over a socket in `/turn`, and ends with `/turn/output.json`. What it
asks for becomes a plan, which passes the committee, policy and people as any other; so a container has no effect of its
own, and may be replaced at any moment by another that knows the finished calls.
"""

from libs.turn_runner.config import Config
from libs.turn_runner.model import RunnerFailed, TurnDeadline, TurnRunner

__all__ = ["Config", "RunnerFailed", "TurnDeadline", "TurnRunner"]
