"""The context of a command, with its transport and how it prints results for people or scripts."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import typer
from typer.core import TyperGroup

from lakehold.cli import credentials_file, errors
from lakehold.cli.errors import ResponseError
from lakehold.cli.transport import Json, fetch_all, join_path
from lakehold.kit.errors import InvalidInputError

if TYPE_CHECKING:
    from lakehold.cli.http_transport import Transport

P = ParamSpec("P")
FLAGS = frozenset({"--json", "--local"})
VALUES = frozenset({"--url", "--tenant", "--as"})


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The values of the global options."""

    url: str = ""
    local: bool = False
    tenant: str = ""
    member: str = ""
    json: bool = False

    def validate(self) -> None:
        """Raise for combinations that would be ignored, because a server identifies the caller by token only."""
        for option, value in (("--as", self.member), ("--tenant", self.tenant)):
            if value and not self.local:
                message = f"{option} goes with --local only: a server identifies you and your tenant by your token."
                raise InvalidInputError(message, f"Leave {option} out, use another token, or add --local.")
        if self.local and self.url:
            raise InvalidInputError("--local and --url cannot be combined.", "Leave one of them out.")


class GlobalOptionsGroup(TyperGroup):
    """A command group that accepts global options after the command: `lakehold check … --json`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer keeps click's types to itself
        """Move the global options to the front, then parse as usual."""
        return super().parse_args(ctx, move_options_first(args))


def move_options_first(args: list[str]) -> list[str]:
    """Return the arguments with global options in front. What follows `--` is left alone."""
    end = args.index("--") if "--" in args else len(args)
    first, rest, arguments = [], [], iter(args[:end])
    for argument in arguments:
        name = argument.partition("=")[0]
        if name in FLAGS or (name in VALUES and "=" in argument):
            first.append(argument)
        elif name in VALUES:
            first += [argument, *([value] if (value := next(arguments, None)) is not None else [])]
        else:
            rest.append(argument)
    return [*first, *rest, *args[end:]]


class CommandContext:
    """The context of a command: its transport, opened by its first request, and how it prints its results."""

    def __init__(self, options: GlobalOptions) -> None:
        self.options = options
        self.json = options.json

    @cached_property
    def transport(self) -> "Transport":
        """The transport that the global options ask for."""
        return _open_transport(self.options)

    def request(self, method: str, *path: str, query: Mapping[str, object] | None = None, body: Json = None) -> Json:
        """Send a request and return its JSON. All parts of the path but the first are quoted."""
        return self.transport.request(method, join_path(*path), query=query, body=body)

    def print_list(
        self,
        path: str,
        columns: Mapping[str, str],
        empty: str,
        query: Mapping[str, object] | None = None,
        limit: int = 0,
    ) -> None:
        """Fetch a list page by page, and print it as a table."""
        self.print_table(fetch_all(self.transport, path, query, limit), columns, empty)

    def print_table(self, rows: Sequence[Mapping[str, Json]], columns: Mapping[str, str], empty: str) -> None:
        """Print rows as a table. `columns` maps the name of each field to its heading."""
        self.print_value(rows, human=lambda: _render_table(rows, columns) if rows else typer.echo(empty))

    def print_fields(self, result: Mapping[str, Json]) -> None:
        """Print one resource, a line for each field."""
        width = max(len(name) for name in result)
        lines = [f"{name.replace('_', ' '):<{width}}  {_cell_text(value)}" for name, value in result.items()]
        self.print_result(result, "\n".join(lines))

    def print_result(self, result: Json, message: str) -> None:
        """Print a result, as JSON or as a message."""
        self.print_value(result, human=lambda: typer.echo(message))

    def print_value(self, result: Json, *, human: Callable[[], object]) -> None:
        """Print JSON for scripts, or call `human` to print for people."""
        if self.json:
            typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
        else:
            human()


def command(function: Callable[Concatenate[CommandContext, P], None]) -> Callable[..., None]:
    """Make a typer command of a function of a CommandContext. Errors are reported as messages and exit codes."""

    @wraps(function)
    def invoke(ctx: typer.Context, *args: P.args, **values: P.kwargs) -> None:
        cmd = CommandContext(ctx.find_root().obj or GlobalOptions())
        with errors.report_errors(as_json=cmd.json):
            try:
                function(cmd, *args, **values)
            finally:
                if "transport" in cmd.__dict__:
                    cmd.transport.close()

    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    invoke.__dict__["__signature__"] = inspect.Signature([context, *parameters])
    return invoke


def _render_table(rows: Sequence[Mapping[str, Json]], columns: Mapping[str, str]) -> None:
    from rich.console import Console  # noqa: PLC0415 - scripts do not need it
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(show_edge=False, pad_edge=False)
    for heading in columns.values():
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(escape(_cell_text(row.get(name))) for name in columns))
    Console().print(table)


def _open_transport(options: GlobalOptions) -> "Transport":
    if options.local:
        from lakehold.cli.local_transport import LocalTransport  # noqa: PLC0415 - one of the two is enough
        from lakehold.kit import settings  # noqa: PLC0415

        return LocalTransport(settings.load_settings(), options.tenant, options.member)
    from lakehold.cli.http_transport import connect  # noqa: PLC0415

    login = credentials_file.resolve_login(options.url)
    if not login.token:
        raise ResponseError(401, "unauthorized", "No API token.", "Set LAKEHOLD_TOKEN, or run `lakehold login`.")
    return connect(login.url, login.token)


def _cell_text(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_cell_text(part) for part in value)
        case dict():
            return (
                str(value["name"]) if "name" in value else ", ".join(f"{k}: {_cell_text(v)}" for k, v in value.items())
            )
        case _:
            return str(value)
