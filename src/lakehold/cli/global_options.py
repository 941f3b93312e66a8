"""Global options, which every command has anywhere on its line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from lakehold.kit.errors import InvalidInputError

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
                message = f"{option} goes with --local only: a server knows you, and your tenant, by your token."
                raise InvalidInputError(message, f"Leave {option} out, take another token, or add --local.")
        if self.local and self.url:
            raise InvalidInputError("--local asks no server, and --url names one.", "Leave one of them out.")


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


def from_context(ctx: typer.Context) -> GlobalOptions:
    """Return the global options of this command line."""
    found = ctx.find_root().obj
    return found if isinstance(found, GlobalOptions) else GlobalOptions()
