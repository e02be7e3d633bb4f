"""The API's documentation page, rendered from its OpenAPI document: no script, and no requests to other hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h2{margin-top:2.5rem;border-bottom:1px solid #d0d7de;text-transform:capitalize}
details{border:1px solid #d0d7de;border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer}code,pre{font:14px/1.45 ui-monospace,monospace}
pre{background:#f6f8fa;padding:.8rem;border-radius:6px;overflow:auto}b{display:inline-block;min-width:3.5rem}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}a{color:#79b8ff}}
"""


@router.head("/docs", include_in_schema=False)
@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    document = request.app.openapi()
    return HTMLResponse(page(document), headers={"Content-Security-Policy": POLICY})


def page(document: Mapping[str, Any]) -> str:
    """Render the OpenAPI document as HTML."""
    info = document["info"]
    responses = document["components"]["responses"]
    shared = {f"#/components/responses/{name}": response for name, response in responses.items()}
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(info['title'])}</title><style>{STYLE}</style><h1>{escape(info['title'])}</h1>"
        f"<p>{escape(info['description'])}</p><p>Machine-readable: <a href=/openapi.json>/openapi.json</a></p>"
    ]
    for tag, operations in _by_tag(document).items():
        parts.append(f"<h2>{escape(tag)}</h2>")
        parts += [_operation(method, path, operation, shared) for method, path, operation in operations]
    parts.append("<h2>Schemas</h2>")
    for name, schema in document["components"]["schemas"].items():
        parts.append(f"<details><summary><code>{escape(name)}</code></summary>{_json(schema)}</details>")
    return "".join(parts)


def _by_tag(document: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Mapping[str, Any]]]]:
    found: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found.setdefault(operation.get("tags", ["other"])[0], []).append((method.upper(), path, operation))
    return found


def _operation(method: str, path: str, operation: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    about = operation.get("description", operation.get("summary", ""))
    head = f"<summary><b>{method}</b> <code>{escape(path)}</code></summary><p>{escape(about)}</p>"
    return f"<details>{head}{''.join(_parts(operation, shared))}</details>"


def _parts(operation: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        about = parameter.get("description", "")
        yield f"<p><code>{escape(parameter['name'])}</code> ({escape(parameter['in'])}) {escape(about)}</p>"
    if "requestBody" in operation:
        yield f"<p>Body</p>{_json(operation['requestBody']['content'])}"
    for status, response in operation["responses"].items():
        response = shared.get(response.get("$ref", ""), response)
        yield f"<p><b>{escape(status)}</b> {escape(response['description'])}</p>"
        if "content" in response:
            yield _json(response["content"])


def _json(value: Any) -> str:
    return f"<pre>{escape(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())}</pre>"
