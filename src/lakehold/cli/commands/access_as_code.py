"""Commands of access as code: export, plan, apply, test."""

import json
from pathlib import Path
from typing import Annotated

import typer

from lakehold.cli.commands.noun import Yes
from lakehold.cli.errors import ExitCode
from lakehold.cli.output import CommandContext, command
from lakehold.cli.transport import Json
from lakehold.kit.errors import InvalidInputError

_CODE = "/api/v1/code"

_Keep = Annotated[bool, typer.Option("--keep", help="Keep what the files do not name, instead of removing it.")]
_Folder = Annotated[Path, typer.Argument(help="Folder with the files, or one file.")]


@command
def export(cmd: CommandContext, folder: Annotated[Path, typer.Argument(help="Output folder.")]) -> None:
    """Export a tenant's people, groups, workspaces, resources, grants and settings as YAML, without secrets."""
    files = cmd.request("GET", _CODE)["files"]
    from lakehold.access_as_code.export import write_files  # noqa: PLC0415 - loaded by this verb only

    done = [{"file": each.file, "done": each.done} for each in write_files(folder, files)]
    changed = [f"{each['done']}: {each['file']}" for each in done if each["done"] != "kept"]
    cmd.print_result(done, "\n".join([*changed, f"{len(done)} files, {len(changed)} changed."]))


@command
def plan(
    cmd: CommandContext,
    folder: _Folder,
    *,
    out: Annotated[Path | None, typer.Option(help="Save the plan to this file, for `apply --plan`.")] = None,
    keep: _Keep = False,
    rows: Annotated[bool, typer.Option("--rows", help="Show every effect on members, not only counts.")] = False,
) -> None:
    """Show the changes needed to match the files, their effect on members, and every right that you lack for them.

    Exit code 0 if there is nothing to do, 1 if there is.
    """
    result = _post(cmd, "plan", folder, rows=rows, keep=keep)
    if out is not None:
        out.write_text(json.dumps(result["plan"], ensure_ascii=False, indent=1), encoding="utf-8")
    cmd.print_value(result["plan"], human=lambda: typer.echo(result["text"], nl=False))
    if not result["empty"]:
        raise typer.Exit(ExitCode.NO)


@command
def apply(
    cmd: CommandContext,
    folder: _Folder,
    *,
    kept: Annotated[Path | None, typer.Option("--plan", help="Apply this plan, if nothing has changed since.")] = None,
    keep: _Keep = False,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Go on although you lose rights by it, as Owner for example.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Apply the files to the tenant, in one transaction."""
    files = _read_texts(cmd, folder)
    chosen_plan = _read_plan(kept)
    if not yes and not cmd.json:
        result = cmd.request("POST", f"{_CODE}/plan", body={"files": files, "keep": keep})
        typer.echo(result["text"], nl=False)
        if result["empty"]:
            return
        if result["applier_losses"] and not accept_loss:
            accept_loss = typer.confirm("You would lose what the warning names. Is that intended?", abort=True)
        # The plan that was reviewed is applied, or nothing is.
        chosen_plan = chosen_plan or result["plan"]
        typer.confirm("Apply this?", abort=True)
    body = {"files": files, "plan": chosen_plan, "keep": keep, "accept_loss": accept_loss}
    done = cmd.request("POST", f"{_CODE}/apply", body=body)
    lines = [f"{done['steps']} steps made, metadata of {done['told']} entries changed."]
    missing = [f"  {uid}: {', '.join(names)}" for uid, names in done["missing_credentials"].items()]
    cmd.print_result(done, "\n".join([*lines, *(["Credentials to enter again:", *missing] if missing else [])]))


@command
def run_tests(
    cmd: CommandContext,
    folder: _Folder,
    *,
    live: Annotated[bool, typer.Option("--live", help="Test the tenant, not only the files.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit report to this file.")] = None,
) -> None:
    """Run the tests in the files, against the files or with --live against the tenant.

    Exit code 0 if all passed, 1 if not, 5 if there was none.
    """
    result = _post(cmd, "test", folder) if live else _run_offline(folder)
    if junit is not None:
        junit.write_text(result["junit"], encoding="utf-8")
    cmd.print_value(result["report"], human=lambda: typer.echo(result["text"], nl=False))
    if not result["tests"]:
        raise typer.Exit(ExitCode.CONFLICT)
    if not result["passed"]:
        raise typer.Exit(ExitCode.NO)


def _run_offline(folder: Path) -> Json:
    from lakehold.access_as_code import assertion_report, read_files, run_files  # noqa: PLC0415 - by this verb only

    return assertion_report.render_all(run_files(read_files(folder)))


def _post(cmd: CommandContext, verb: str, folder: Path, **options: object) -> Json:
    return cmd.request("POST", f"{_CODE}/{verb}", body={"files": _read_texts(cmd, folder), **options})


def _read_texts(cmd: CommandContext, folder: Path) -> dict[str, str]:
    """Read the files, after it is certain where they are sent."""
    _ = cmd.transport
    from lakehold.access_as_code.desired_state import load_texts  # noqa: PLC0415 - as above

    return load_texts(folder)


def _read_plan(kept: Path | None) -> Json:
    if kept is None:
        return None
    try:
        return json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InvalidInputError(
            f"There is no plan in {kept.name!r}.", "Create one with `lakehold plan --out`."
        ) from None
