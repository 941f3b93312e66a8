"""One verb's talk: the door it goes through, and how it answers the person or the script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from lakehold.cli import errors, everywhere
from lakehold.cli.door import Door, Json


@dataclass(frozen=True, slots=True)
class Talk:
    """With whom, and in which form."""

    door: Door
    json: bool

    def show(self, told: Json, *, human: Callable[[], object]) -> None:
        """The answer itself for scripts, or in the form that people read."""
        if self.json:
            echo_json(told)
        else:
            human()

    def table(self, rows: Iterable[Mapping[str, Json]], columns: Mapping[str, str], empty: str) -> None:
        """Rows with the columns that are wanted: the name of each field, and its heading."""
        found = list(rows)
        self.show(found, human=lambda: self._table(found, columns, empty))

    def _table(self, rows: Sequence[Mapping[str, Json]], columns: Mapping[str, str], empty: str) -> None:
        if not rows:
            typer.echo(empty)
            return
        from rich.console import Console  # noqa: PLC0415 - scripts do not need it
        from rich.markup import escape  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415

        table = Table(show_edge=False, pad_edge=False)
        for heading in columns.values():
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*(escape(_cell(row.get(name))) for name in columns))
        Console().print(table)

    def fields(self, told: Mapping[str, Json]) -> None:
        """One thing, a line for each of its fields."""
        width = max(len(name) for name in told)
        lines = [f"{name.replace('_', ' '):<{width}}  {_cell(value)}" for name, value in told.items()]
        self.show(told, human=lambda: typer.echo("\n".join(lines)))

    def done(self, told: Json, words: str) -> None:
        """Something was done."""
        self.show(told, human=lambda: typer.echo(words))


def echo_json(told: Json) -> None:
    """An answer for scripts."""
    typer.echo(json.dumps(told, ensure_ascii=False, indent=2))


@contextmanager
def talk(ctx: typer.Context) -> Iterator[Talk]:
    """Open the door that this line asks for; errors become words and exit codes."""
    said = everywhere.said(ctx)
    with errors.told(as_json=said.json):
        door = _door(said)
        try:
            yield Talk(door, said.json)
        finally:
            door.close()


def _door(said: everywhere.Everywhere) -> Door:
    if said.local:
        from lakehold.cli.local import Local  # noqa: PLC0415 - one of the two is enough
        from lakehold.kit import settings  # noqa: PLC0415

        return Local(settings.load_settings(), said.tenant, said.member)
    from lakehold.cli import kept  # noqa: PLC0415
    from lakehold.cli.errors import RefusedError  # noqa: PLC0415
    from lakehold.cli.remote import Remote  # noqa: PLC0415

    login = kept.chosen(said.url)
    if not login.token:
        raise RefusedError(401, "unauthorized", "There is no token.", "Set LAKEHOLD_TOKEN, or run `lakehold login`.")
    return Remote(login.url, login.token)


def _cell(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_cell(part) for part in value)
        case dict():
            return str(value["name"]) if "name" in value else ", ".join(f"{k}: {_cell(v)}" for k, v in value.items())
        case _:
            return str(value)
