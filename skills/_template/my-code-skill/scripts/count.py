"""Count the lines of the text files in a folder.

The context comes as JSON on the standard input: `args` (checked against the tool's params), `workspace` (where the
folder's files are, and where this starts), `skill` (this skill's files, read-only) and `session`. The result is the
JSON that this prints: exactly the fields that the tool `returns`. What it writes in the workspace is staged and shown
as a diff before anything changes. There is no network.
"""

import json
import sys
from pathlib import Path

context = json.load(sys.stdin)
files = sorted(Path(context["args"]["path"]).glob("*.txt"))
lines = {str(path): len(path.read_text(errors="replace").splitlines()) for path in files}
json.dump({"lines": lines, "count": sum(lines.values())}, sys.stdout)
