"""The `suma` command: a client of the public API, for a person at a terminal or a script (`--json`).

It uses the platform as any client does: routes, events and an API key. It reads the data directory only for the
platform's address, the local key and the list of allowed folders.
"""


def main() -> None:
    """Run the command; print an expected failure as one line and exit with its code."""
    # Imported here, because `services.cli.client` and others are used without typer.
    from services.cli.commands import run

    run()
