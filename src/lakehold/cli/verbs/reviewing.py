"""review: every member × resource × action, as a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli.door import Json
from lakehold.cli.errors import RefusedError
from lakehold.cli.talk import Talk, talk

_PAUSE = 0.5
_REVIEWS = "/api/v1/access/reviews"


def review(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="Where the result goes: .parquet, .csv or .arrow.")],
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be given several times.")] = None,
    inside: Annotated[str | None, typer.Option(help="Only what lies in this resource.")] = None,
) -> None:
    """Work out who may do what with everything, and write it to a file."""
    ending = file.suffix.removeprefix(".")
    if ending not in {"parquet", "csv", "arrow"}:
        raise typer.BadParameter("The file's name ends in .parquet, .csv or .arrow.", param_hint="FILE")
    with talk(ctx) as to:
        wanted = {"format": ending, "kinds": kind or None, "inside": inside}
        job = to.door.ask("POST", _REVIEWS, body={name: value for name, value in wanted.items() if value})
        job = _ended(to, job)
        if job["state"] != "done":
            raise RefusedError(500, "failed", "The review has failed.", job["error"])
        size = _fetched(to, f"{_REVIEWS}/{job['id']}/result", file)
        to.done({**job, "file": str(file), "bytes": size}, f"{job['rows']:,} rows in {file}")


def _ended(to: Talk, job: Json) -> Json:
    from threading import Event, Thread  # noqa: PLC0415 - loaded by this verb only

    # Here or in a worker: either way it is asked from time to time how far it is.
    doing = Thread(target=to.door.work_off, args=(job["id"],))
    doing.start()
    with _bar(to) as tell:
        while job["state"] not in {"done", "failed"}:
            tell(job["progress"], job["doing"] or job["state"])
            Event().wait(_PAUSE)
            job = to.door.ask("GET", f"{_REVIEWS}/{job['id']}")
    doing.join()
    return job


@contextmanager
def _bar(to: Talk) -> Iterator[Json]:
    """A bar on a terminal; nothing for scripts."""
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), disable=to.json, transient=True) as progress:
        task = progress.add_task("waiting", total=100)
        yield lambda done, words: progress.update(task, completed=done, description=words)


def _fetched(to: Talk, path: str, file: Path) -> int:
    """Write it beside, then put it in its place: a file of that name is whole."""
    beside = file.with_name(f".{file.name}.part")
    try:
        with beside.open("wb") as out:
            size = sum(out.write(part) for part in to.door.fetch(path))
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    return size


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(rich_help_panel="Asking")(review)
