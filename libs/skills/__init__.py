"""Skills: folders of instructions and tool declarations in the Agent Skills format, read and checked, never run here.

`Skills.load` takes the folders in order of precedence; the executor runs what the tools declare.
"""

from libs.skills.catalogue import Skills
from libs.skills.categories import Categories, free_name
from libs.skills.definitions import (
    REFERENCE,
    Effect,
    Need,
    Primitive,
    SkillDefinition,
    ToolDefinition,
    ValidationResult,
    is_reference,
)
from libs.skills.patterns import selected

__all__ = [
    "REFERENCE",
    "Categories",
    "Effect",
    "Need",
    "Primitive",
    "SkillDefinition",
    "Skills",
    "ToolDefinition",
    "ValidationResult",
    "free_name",
    "is_reference",
    "selected",
]
