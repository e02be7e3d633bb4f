"""Skills: folders of instructions and tool declarations in the Agent Skills format, read and checked, never run here.

`Skills` is a fixed view of them; a `Catalogue` holds the present view. The executor runs the primitives that the tools
declare.
"""

from libs.skills.catalogue import Skills, UnknownTool
from libs.skills.categories import Categories, date_in, free_name
from libs.skills.definitions import (
    ATTACHMENTS,
    Effect,
    Kind,
    Need,
    Primitive,
    Risk,
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
from libs.skills.programs import RUN, NoSuchProgram, interpreter, result_fault, started
from libs.skills.references import REFERENCE, is_reference, references, sources, strings
from libs.skills.reload import Catalogue, Place
from libs.skills.use import USE, NoSuchReference, UnknownSkill, use

__all__ = [
    "ATTACHMENTS",
    "LOADER",
    "REFERENCE",
    "RUN",
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
    "NoSuchProgram",
    "NoSuchReference",
    "Place",
    "Primitive",
    "Risk",
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
    "interpreter",
    "is_reference",
    "linear",
    "name_patterns",
    "plugged",
    "read_skill",
    "references",
    "result_fault",
    "selected",
    "sources",
    "started",
    "strings",
    "use",
]
