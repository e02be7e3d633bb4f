"""The `suma` command: a client of the public API, for a person at a terminal or a script (`--json`).

What it knows of the platform is what any client knows: the routes, the events, a key. It reads the data directory only
for where the platform listens, the local key, and the list of folders that the person has allowed.
"""


def main() -> None:
    """Run the command; every foreseen failure is one line and an exit code."""
    # Imported when it runs: `services.cli.client` and others are used without typer.
    from services.cli.commands import run

    run()
