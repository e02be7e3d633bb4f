"""The child: `python -I credentials_child.py` signs a file with content credentials (C2PA), or reads them.

It imports no module of Suma. It reads a JSON line and the file from its input, and writes a JSON line and the signed
file. No manifest is fetched and no time stamp or revocation server is asked.
"""

from __future__ import annotations

import json
import resource
import sys
from io import BytesIO
from typing import Any

import c2pa

MEMORY_MOST, CPU_SECONDS_MOST, OUTPUT_MOST = 2 << 30, 20, 128 << 20
FACTS = "org.suma.provenance"
"""The label of the assertion with Suma's own facts."""


def context(root: str) -> Any:
    return c2pa.Context(
        settings=c2pa.Settings.from_dict(
            {
                "builder": {"thumbnail": {"enabled": False}},
                "trust": {"trust_anchors": root},
                "verify": {
                    "verify_after_sign": False,
                    "verify_trust": True,
                    "remote_manifest_fetch": False,
                    "ocsp_fetch": False,
                },
            }
        )
    )


def signed(asked: dict[str, Any], data: bytes) -> bytes:
    action = {"action": "c2pa.created", "when": asked["at"], "digitalSourceType": asked["made_by"]}
    manifest = {
        "claim_generator_info": [{"name": "Suma"}],
        "title": asked["title"],
        "assertions": [
            {"label": "c2pa.actions", "data": {"actions": [action]}},
            {"label": FACTS, "data": asked["facts"]},
        ],
    }
    keys = (text.encode() for text in (asked["chain"], asked["key"]))
    signer = c2pa.Signer.from_info(c2pa.C2paSignerInfo(b"ed25519", *keys, None))
    out = BytesIO()
    c2pa.Builder(json.dumps(manifest), context=context(asked["root"])).sign(
        signer, asked["media_type"], BytesIO(data), out
    )
    return out.getvalue()


def read(asked: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        reader = c2pa.Reader(asked["media_type"], BytesIO(data), context=context(asked["root"]))
    except c2pa.C2paError.ManifestNotFound:
        return {"state": "absent", "facts": {}}
    except c2pa.C2paError as error:
        return {"state": "invalid", "facts": {}, "problem": str(error)[:300]}
    manifest = reader.get_active_manifest() or {}
    facts: dict[str, Any] = next(
        (each["data"] for each in manifest.get("assertions", []) if each["label"] == FACTS), {}
    )
    return {"state": str(reader.get_validation_state()).lower(), "facts": facts}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MOST, CPU_SECONDS_MOST))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MOST, OUTPUT_MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked, data = json.loads(sys.stdin.buffer.readline()), sys.stdin.buffer.read()
    found: dict[str, Any] = {}
    made = b""
    try:
        if "key" in asked:
            made = signed(asked, data)
        else:
            found = read(asked, data)
    except c2pa.C2paError as error:
        found = {"refused": str(error)[:300]}
    sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + made)


if __name__ == "__main__":
    main()
