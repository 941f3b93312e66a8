"""The options that every verb has, wherever on the line they stand: whom to talk to, as whom, and how to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from lakehold.kit.errors import InvalidInputError

FLAGS = frozenset({"--json", "--local"})
VALUES = frozenset({"--url", "--tenant", "--as"})


@dataclass(frozen=True, slots=True)
class Everywhere:
    """What was said about that."""

    url: str = ""
    local: bool = False
    tenant: str = ""
    member: str = ""
    json: bool = False

    def refuse(self) -> None:
        """Refuse what would be passed over in silence: a server knows a caller by the token, and no other way."""
        for option, value in (("--as", self.member), ("--tenant", self.tenant)):
            if value and not self.local:
                words = f"{option} goes with --local only: a server knows you, and your tenant, by your token."
                raise InvalidInputError(words, f"Leave {option} out, take another token, or add --local.")
        if self.local and self.url:
            raise InvalidInputError("--local asks no server, and --url names one.", "Leave one of them out.")


class Hoisting(TyperGroup):
    """Reads those options also when they come after the verb: `lakehold check … --json`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer keeps click's types to itself
        """Put them first, then read as usual."""
        return super().parse_args(ctx, hoisted(args))


def hoisted(args: list[str]) -> list[str]:
    """The same words with these options in front. What follows `--` is left alone."""
    end = args.index("--") if "--" in args else len(args)
    first, rest, words = [], [], iter(args[:end])
    for word in words:
        name = word.partition("=")[0]
        if name in FLAGS or (name in VALUES and "=" in word):
            first.append(word)
        elif name in VALUES:
            first += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            rest.append(word)
    return [*first, *rest, *args[end:]]


def said(ctx: typer.Context) -> Everywhere:
    """What was said about them on this line."""
    found = ctx.find_root().obj
    return found if isinstance(found, Everywhere) else Everywhere()
