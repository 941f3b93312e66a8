"""login, logout: which server to talk to, and as whom."""

from __future__ import annotations

import sys

import typer

from lakehold.cli import errors, everywhere
from lakehold.cli.talk import Talk


def login(ctx: typer.Context) -> None:
    """Keep a server's address and an API token, in a file that only you can read.

    The token is asked for, or read from a pipe; it is tried before it is kept.
    """
    said = everywhere.said(ctx)
    with errors.told(as_json=said.json):
        from lakehold.cli import kept  # noqa: PLC0415 - loaded by this verb only
        from lakehold.cli.remote import Remote  # noqa: PLC0415

        url = kept.chosen(said.url).url
        token = typer.prompt("API token", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().strip()
        door = Remote(url, token)
        try:
            me = door.ask("GET", "/api/v1/me")
        finally:
            door.close()
        where = kept.store(kept.Login(url, token))
        Talk(door, said.json).done({"url": url, "me": me}, f"Signed in at {url}; kept in {where}.")


def logout(ctx: typer.Context) -> None:
    """Forget the address and the token. The token stays valid until it is revoked."""
    said = everywhere.said(ctx)
    with errors.told(as_json=said.json):
        from lakehold.cli import kept  # noqa: PLC0415 - as above

        there = kept.forget()
        typer.echo("Forgotten." if there else "There was nothing to forget.")


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (login, logout):
        app.command(rich_help_panel="Running it")(verb)
