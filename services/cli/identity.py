"""Commands of identity: sign in to the web UI, and manage keys and tenants."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from services.cli import words
from services.cli.errors import AnswerRequired, Usage
from services.cli.terminal import Json, connected, console, interactive, print_done, print_json, print_table

keys = typer.Typer(help="API keys of your tenant.", no_args_is_help=True)
tenants = typer.Typer(help="Tenants, and the principals of one.", no_args_is_help=True)

SPAN = re.compile(r"(\d{1,5})([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
Row = Mapping[str, Any]


class RoleName(StrEnum):
    """The roles of `libs.identity.roles`, which the command line does not import."""

    USER = "user"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    ADMIN = "admin"


KeyId = Annotated[str, typer.Argument(metavar="ID", help="The id of a key, as `suma keys list` shows it.")]
OfTenant = Annotated[str | None, typer.Option("--tenant", help="Of another tenant.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def open_(
    show: Annotated[bool, typer.Option("--print", help="Only print the link.")] = False, as_json: Json = False
) -> None:
    """Open the web UI, signed in with your key. The link works once, within a minute."""
    with connected() as client:
        made = client.post("/v1/signin/code", {})
    if as_json:
        print_json(made)
        return
    console.print(Text(made["url"]))
    if interactive() and not show:
        typer.launch(made["url"])


@keys.command(name="list")
def list_keys(
    principal: Annotated[str | None, typer.Option(help="Of this principal.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Revoked and expired ones too.")] = False,
    tenant: OfTenant = None,
    as_json: Json = False,
) -> None:
    """List keys, newest first, with their last use."""
    wanted = _given(principal=principal, tenant=tenant)
    with connected() as client:
        found = client.get("/v1/admin/keys", limit=500, ended=str(every).lower(), **wanted)["keys"]
    if as_json:
        print_json(found)
        return
    table = Table(
        "id", "principal", "name", "may", "created", "last used", "expires", "state", box=None, pad_edge=False
    )
    for key in found:
        may = " ".join((*key["roles"], *key["scopes"]))
        times = (_when(key["created_at"]), _when(key["used_at"]), _when(key["expires_at"]))
        cells = (key["key_id"], key["principal"], words.line(key["name"]), may, *times, key["state"])
        table.add_row(*map(Text, cells), style="" if key["state"] == "valid" else "dim")
    console.print(table)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, such as “laptop”.")],
    principal: Annotated[str, typer.Option(help="The person or program that it identifies.")],
    role: Annotated[list[RoleName] | None, typer.Option(help="A role; repeatable.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="An additional scope; repeatable.")] = None,
    expires: Annotated[str | None, typer.Option(metavar="WHEN", help="In 12h or 90d, or at an ISO time.")] = None,
    signing_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A public key (JWK) that must sign each request with the key.")
    ] = None,
    tenant: OfTenant = None,
    as_json: Json = False,
) -> None:
    """Create a key, and print it. It cannot be shown again."""
    if not role and not scope:
        raise Usage("give the key at least one --role or --scope")
    body: dict[str, Any] = {"name": name, "principal": principal, "roles": role or [], "scopes": scope or []}
    body |= _given(expires_at=_time(expires) if expires else None, tenant=tenant)
    if signing_key is not None:
        body["signing_key"] = _jwk(signing_key)
    with connected() as client:
        made = client.post("/v1/admin/keys", body)
    _show_new(made, as_json=as_json)


@keys.command()
def rotate(
    key: KeyId,
    overlap: Annotated[str, typer.Option(metavar="SPAN", help="How long the old key stays valid.")] = "1d",
    tenant: OfTenant = None,
    as_json: Json = False,
) -> None:
    """Create a key's successor, and print it. The old key stays valid for the overlap."""
    seconds = int(_span(overlap).total_seconds())
    with connected() as client:
        made = client.post(_path(f"/v1/admin/keys/{key}/rotate", tenant), {"overlap_seconds": seconds})
    _show_new(made, as_json=as_json)


@keys.command()
def revoke(key: KeyId, tenant: OfTenant = None, yes: Yes = False, as_json: Json = False) -> None:
    """Revoke a key at once, and sign out the browsers that it signed in."""
    _confirm(f"Revoke the key {key}?", yes=yes)
    with connected() as client:
        done = client.post(_path(f"/v1/admin/keys/{key}/revoke", tenant), {})
    print_done(done, f"{done['key_id']} of {done['principal']} is revoked", as_json=as_json)


@tenants.command(name="list")
def list_tenants(as_json: Json = False) -> None:
    """List the tenants."""
    with connected() as client:
        found = client.get("/v1/admin/tenants", limit=500)["tenants"]
    if as_json:
        print_json(found)
        return
    rows = [(row["tenant"], words.line(row["name"]), _when(row["created_at"]), _state(row)) for row in found]
    print_table(("tenant", "name", "created", "state"), rows)


@tenants.command(name="create")
def create_tenant(
    tenant: Annotated[str, typer.Argument(help="Its id: lower-case letters, digits and dashes.")],
    name: Annotated[str, typer.Option(help="Its name for people.")] = "",
    as_json: Json = False,
) -> None:
    """Create a tenant."""
    with connected() as client:
        made = client.post("/v1/admin/tenants", {"tenant": tenant, "name": name})
    print_done(made, f"the tenant {tenant} exists", as_json=as_json)
    if not as_json:
        first = f"Its first key: suma keys create admin --principal NAME --role admin --tenant {tenant}"
        console.print(Text(first, "dim"))


@tenants.command()
def disable(tenant: str, principal: str | None = None, yes: Yes = False) -> None:
    """Refuse every credential of a tenant, or of one `--principal` of it, until it is enabled."""
    _confirm(f"Disable {principal or tenant}?", yes=yes)
    _set(tenant, principal, "disable")


@tenants.command()
def enable(tenant: str, principal: str | None = None) -> None:
    """Accept the credentials of a tenant, or of one `--principal` of it, again."""
    _set(tenant, principal, "enable")


@tenants.command()
def principals(tenant: Annotated[str | None, typer.Argument()] = None, as_json: Json = False) -> None:
    """List the principals of your tenant, or of another one."""
    with connected() as client:
        found = client.get("/v1/admin/principals", limit=500, **_given(tenant=tenant))["principals"]
    if as_json:
        print_json(found)
        return
    rows = [(row["principal"], str(row["keys"]), _when(row["created_at"]), _state(row)) for row in found]
    print_table(("principal", "valid keys", "created", "state"), rows)


def _set(tenant: str, principal: str | None, verb: str) -> None:
    path = f"/v1/admin/tenants/{tenant}/{verb}"
    if principal is not None:
        path = _path(f"/v1/admin/principals/{principal}/{verb}", tenant)
    with connected() as client:
        done = client.post(path, {})
    console.print(Text(f"✔ {done['id']} is {'disabled' if done['disabled'] else 'enabled'}", style="green"))


def _show_new(made: Row, *, as_json: bool) -> None:
    if as_json:
        print_json(made)
        return
    # Alone on standard output, so that a script can store it.
    console.print(Text(made["key"]))
    if interactive():
        expires = f", expires {_when(made['expires_at'])}" if made["expires_at"] else ""
        note = f"The key {made['key_id']} of {made['principal']} in {made['tenant']}{expires}. Keep it now: "
        console.print(Text(f"{note}it cannot be shown again.", style="dim"))


def _jwk(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Usage(f"{file} is not a JWK: {error}") from None


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not interactive():
        raise AnswerRequired("add --yes to do it without a question")
    typer.confirm(question, abort=True)


def _given(**wanted: str | None) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if value is not None}


def _path(path: str, tenant: str | None) -> str:
    return path if tenant is None else f"{path}?tenant={tenant}"


def _span(text: str) -> timedelta:
    """Parse `12h`, `90d` or `0m`. Raises Usage."""
    if (span := SPAN.fullmatch(text)) is None:
        raise Usage(f"{text!r} is not a span: use 30m, 12h or 90d")
    return timedelta(**{UNITS[span[2]]: int(span[1])})


def _time(text: str) -> str:
    """Parse a span from now, or an ISO time (UTC if it has no zone). Raises Usage."""
    if SPAN.fullmatch(text):
        return (datetime.now(UTC) + _span(text)).isoformat()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Usage(f"{text!r} is not a time: use 12h, 90d, or 2027-01-31T12:00") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()


def _state(row: Row) -> str:
    return "disabled" if row["disabled_at"] else "enabled"


def _when(at: str | None) -> str:
    return at[:16].replace("T", " ") if at else "–"
