"""sql: a query as oneself, over the tables that one may read."""

from __future__ import annotations

import json
import secrets
import sys
from enum import StrEnum
from typing import Annotated

import typer

from lakehold.cli.door import Json, at
from lakehold.cli.naming import LAKEHOUSES, meant
from lakehold.cli.talk import Talk, echo_json, talk

_QUERIES = "/api/v1/queries"


class Form(StrEnum):
    """How the rows are told."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"


_ACCEPT = {
    Form.TABLE: "application/json",
    Form.JSON: "application/json",
    Form.CSV: "text/csv",
    Form.ARROW: "application/vnd.apache.arrow.stream",
}


def sql(
    ctx: typer.Context,
    workspace: Annotated[str, typer.Argument(help="The lakehouse in which names are looked for, by its id or name.")],
    query: Annotated[str, typer.Argument(help="One SELECT; - reads it from standard input.")],
    form: Annotated[Form, typer.Option("--format", help="How the rows are told.")] = Form.TABLE,
    limit: Annotated[int, typer.Option(min=1, help="How many rows at the most.")] = 1_000,
) -> None:
    """Ask a query. What you may not read is as if it were not there."""
    text = sys.stdin.read() if query == "-" else query
    uid = f"q_{secrets.token_hex(12)}"
    with talk(ctx) as to:
        body = {"workspace": meant(to.door, workspace, LAKEHOUSES), "sql": text, "limit": limit, "id": uid}
        chosen = Form.JSON if to.json else form
        try:
            parts = to.door.fetch(_QUERIES, body=body, accept=_ACCEPT[chosen])
            if chosen in {Form.CSV, Form.ARROW}:
                for part in parts:
                    sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()
                return
            found = json.loads(b"".join(parts))
        except KeyboardInterrupt:
            # Nobody reads it any more, so nobody need work on it.
            to.door.ask("DELETE", at(_QUERIES, uid))
            raise
        if chosen is Form.JSON:
            echo_json(found)
        else:
            _table(to, found)


def _table(to: Talk, found: Json) -> None:
    headings = {str(number): field["name"] for number, field in enumerate(found["fields"])}
    rows = [{str(number): value for number, value in enumerate(row)} for row in found["rows"]]
    to.table(rows, headings, "No rows.")
    if not found["complete"]:
        typer.echo("There are more rows; ask for them with --limit.", err=True)


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(rich_help_panel="Data")(sql)
