"""The words of the format, and small readings of nodes that all parts of it share."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.code import times
from lakehold.code.nodes import Node, Row, Table, Text
from lakehold.code.problems import wrong
from lakehold.code.times import ALWAYS, Span
from lakehold.kit.errors import InvalidInputError

SECTIONS = ("tenant", "all", "members", "groups", "workspaces", "models", "tests")
OWN = ("kind", "name", "email", "service", "description", "settings", "members", "membership", "loose", "holds")
"""The format's own words in a thing. Everything else in it is a role, an edge or an attribute of its kind."""


def written(name: str) -> str:
    """A word of a model as files write it: with a dot before it if it is a word of the format too."""
    return f".{name}" if name in OWN else name


def text(node: Node, what: str) -> str:
    """The one text that stands there."""
    if not isinstance(node, Text):
        raise wrong(node.place, f"{what} is a single word or text.")
    if node.is_empty or not node.value:
        raise wrong(node.place, f"{what} is empty.", "Write something there, or remove the line.")
    return node.value


def table(node: Node, what: str, *, may_be_empty: bool = False) -> Table:
    """The mapping that stands there."""
    if isinstance(node, Text) and node.is_empty:
        if may_be_empty:
            return Table({}, node.place)
        raise wrong(node.place, f"{what} is empty.", "Write something under it, or remove the line.")
    if not isinstance(node, Table):
        raise wrong(node.place, f"{what} is a mapping of names.", "Write `name: value` lines.")
    return node


def fields(node: Node, what: str, known: Collection[str]) -> dict[str, Node]:
    """The mapping that stands there, with no other names than these."""
    found = table(node, what)
    for name, (key, _) in found.entries.items():
        if name not in known:
            raise wrong(key.place, f"{quote_excerpt(name)} is not known in {what}.", did_you_mean(name, known))
    return {name: value for name, (_, value) in found.entries.items()}


def row(node: Node) -> list[Node]:
    """Some in a row, or one alone."""
    return node.items if isinstance(node, Row) else [node]


def moment(node: Node, what: str) -> int:
    """The time that stands there."""
    try:
        return times.read(text(node, what))
    except InvalidInputError as error:
        if error.message.startswith(f"{node.place}: "):
            raise
        raise wrong(node.place, error.message, error.hint) from error


def entries(node: Node, what: str, key: str) -> Iterator[tuple[str, Span, SourceLocation]]:
    """What a role, an edge or an attribute is set to: `ana`, `[ana, bob]`, or `{who: ana, until: 2026-01-31}`."""
    for part in row(node):
        if not isinstance(part, Table):
            yield text(part, what), ALWAYS, part.place
            continue
        found = fields(part, what, (key, "from", "until"))
        if key not in found:
            raise wrong(part.place, f"`{key}:` is missing in {what}.", f"Write {{{key}: …, until: 2026-01-31}}.")
        span = Span(
            moment(found["from"], "from") if "from" in found else None,
            moment(found["until"], "until") if "until" in found else None,
        )
        if span.end <= span.begin:
            raise wrong(part.place, f"{what} ends before it begins.", "Choose a later end.")
        yield text(found[key], what), span, part.place
