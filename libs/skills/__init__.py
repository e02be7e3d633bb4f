"""Skills: folders of instructions and tool declarations in the Agent Skills format, read and checked, never run here.

`Skills` is a fixed view of them; a `Catalogue` holds the present view. The executor runs the primitives that the tools
declare.
"""

from libs.skills.catalogue import NeedsSandbox, Skills, UnknownTool
from libs.skills.categories import Categories, date_in, free_name
from libs.skills.definitions import (
    ATTACHMENTS,
    COMMAND_TOOL,
    Effect,
    Kind,
    Need,
    Primitive,
    SkillDefinition,
    Source,
    ToolDefinition,
    ValidationResult,
    linear,
)
from libs.skills.files import LOADER, BadSkill
from libs.skills.folder import read_skill
from libs.skills.globs import selected
from libs.skills.intents import Form, Hole, Intent, Slot, SlotType
from libs.skills.references import REFERENCE, is_reference, references, sources, strings
from libs.skills.reload import Catalogue, Place
from libs.skills.use import USE, NoSandbox, NoSuchReference, UnknownSkill, use

__all__ = [
    "ATTACHMENTS",
    "COMMAND_TOOL",
    "LOADER",
    "REFERENCE",
    "USE",
    "BadSkill",
    "Catalogue",
    "Categories",
    "Effect",
    "Form",
    "Hole",
    "Intent",
    "Kind",
    "Need",
    "NeedsSandbox",
    "NoSandbox",
    "NoSuchReference",
    "Place",
    "Primitive",
    "SkillDefinition",
    "Skills",
    "Slot",
    "SlotType",
    "Source",
    "ToolDefinition",
    "UnknownSkill",
    "UnknownTool",
    "ValidationResult",
    "catalogue",
    "categories",
    "date_in",
    "free_name",
    "globs",
    "is_reference",
    "linear",
    "name_patterns",
    "plugged",
    "read_skill",
    "references",
    "selected",
    "sources",
    "strings",
    "use",
]
