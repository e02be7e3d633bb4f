"""The sandbox: commands of a model, run where they can harm neither the host nor its neighbours (S2-10 to S2-19).

Two backends pass one suite (tests/conformance/sandbox): `docker` and `bubblewrap`. `scratch` gives a session a copy of
its staged files and returns what a command changed as operations for the stage. docs/security.md says what is defended.
"""

from libs.sandbox.choice import Choice, NoSandboxHere
from libs.sandbox.ports import (
    WORKSPACE,
    Backend,
    Broken,
    Check,
    Command,
    Ended,
    Limits,
    Mount,
    NoSandbox,
    Piece,
    Refused,
    Report,
    Session,
    TimedOut,
)
from libs.sandbox.quota import scratch_folder
from libs.sandbox.scratch import Changes, Scratch
from libs.sandbox.sessions import Launcher, Sandboxes

__all__ = [
    "WORKSPACE",
    "Backend",
    "Broken",
    "Changes",
    "Check",
    "Choice",
    "Command",
    "Ended",
    "Launcher",
    "Limits",
    "Mount",
    "NoSandbox",
    "NoSandboxHere",
    "Piece",
    "Refused",
    "Report",
    "Sandboxes",
    "Scratch",
    "Session",
    "TimedOut",
    "bubblewrap",
    "docker",
    "scratch_folder",
]
