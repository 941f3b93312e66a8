"""Commands of data projects as files: project export, plan, apply."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli.commands.noun import Noun, Yes
from lakehold.cli.errors import ExitCode
from lakehold.cli.output import CommandContext
from lakehold.cli.transport import Json, resolve_id
from lakehold.kit.errors import InvalidInputError

_PATH = "/api/v1/projects"
_CONNECTION, _PROJECT, _SPACE, _TASK = (f"spaces.{kind}" for kind in ("connection", "project", "space", "task"))
data_projects = Noun(_PATH, "Data projects as YAML files: export one, plan and apply it in another data space.")

_Space = Annotated[str, typer.Argument(help="Data space, by ID or name.")]
_File = Annotated[Path, typer.Argument(help="File of the project; - reads from standard input.")]
_Connections = Annotated[
    list[str] | None,
    typer.Option("--connection", help="name=ID or path of the data connection to use instead. Repeatable."),
]
_Inputs = Annotated[
    list[str] | None, typer.Option("--input", help="name=ID or path of the task to read instead. Repeatable.")
]
_Keep = Annotated[
    bool, typer.Option("--keep", help="Keep tasks that the file does not have, instead of deleting them.")
]


@data_projects.verb()
def export(
    cmd: CommandContext,
    project: Annotated[str, typer.Argument(help="Data project, by ID, name or path.")],
    file: Annotated[Path | None, typer.Argument(help="Output file; else it is printed.")] = None,
) -> None:
    """Export a data project as YAML, without rows, secrets and schedules."""
    result = cmd.request("GET", _PATH, resolve_id(cmd.transport, project, (_PROJECT,)), "file")
    if file is None:
        cmd.print_value(result, human=lambda: typer.echo(result["file"], nl=False))
        return
    file.write_text(result["file"], encoding="utf-8")
    cmd.print_result({"file": str(file)}, f"written: {file}")


@data_projects.verb()
def plan(
    cmd: CommandContext, space: _Space, file: _File, *, connection: _Connections = None, given: _Inputs = None,
    keep: _Keep = False,
) -> None:  # fmt: skip
    """Show what a file changes in a data space. Exit code 0 if there is nothing to do, 1 if there is."""
    result = cmd.request("POST", _PATH, "plan", body=_body(cmd, space, file, connection, given, keep=keep))
    cmd.print_value(result, human=lambda: typer.echo(_describe(result), nl=False))
    if result["changes"]:
        raise typer.Exit(ExitCode.NO)


@data_projects.verb()
def apply(
    cmd: CommandContext, space: _Space, file: _File, *, connection: _Connections = None, given: _Inputs = None,
    keep: _Keep = False, yes: Yes = False,
) -> None:  # fmt: skip
    """Make a project in a data space what a file says, in one transaction. Prepare its tasks afterwards."""
    body = _body(cmd, space, file, connection, given, keep=keep)
    if not yes and not cmd.json:
        result = cmd.request("POST", _PATH, "plan", body=body)
        typer.echo(_describe(result), nl=False)
        if not result["changes"]:
            return
        typer.confirm("Apply this?", abort=True)
    done = cmd.request("POST", _PATH, "apply", body=body)
    cmd.print_result(done, f"{len(done['changes'])} changes made; the project is {done['project']}.")


def _body(
    cmd: CommandContext, space: str, file: Path, connections: Sequence[str] | None, inputs: Sequence[str] | None, *,
    keep: bool,
) -> Json:  # fmt: skip
    return {
        "space": resolve_id(cmd.transport, space, (_SPACE,)),
        "file": _read(file),
        "connections": _chosen(cmd, connections, _CONNECTION),
        "inputs": _chosen(cmd, inputs, _TASK),
        "keep": keep,
    }


def _read(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        message, hint = f"There is no text file {file.name!r}.", "Create one with `lakehold project export`."
        raise InvalidInputError(message, hint) from None


def _chosen(cmd: CommandContext, given: Sequence[str] | None, kind: str) -> dict[str, str]:
    found = dict[str, str]()
    for each in given or ():
        name, separator, word = each.partition("=")
        if not separator:
            raise InvalidInputError(f"{each!r} is not name=ID.", "Write the name in the file, = and the ID.")
        found[name] = resolve_id(cmd.transport, word, (kind,))
    return found


def _describe(result: Json) -> str:
    lines = [
        " ".join(filter(None, (each["action"], each["kind"], each["name"], ", ".join(each["fields"]))))
        for each in result["changes"]
    ]
    return "\n".join(lines or ["No changes: the project matches the file."]) + "\n"
