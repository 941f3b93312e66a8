"""A YAML parser whose nodes know their lines, and the problems found in files.

Every value stays the text that was written, so that an id `no` or `0123` means what it says. Tags, recursive nodes
and excessive aliases are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import yaml
from yaml.reader import ReaderError

from lakehold.access.model.errors import ModelError, SourceLocation, quote_excerpt
from lakehold.kit.errors import InvalidInputError, LakeholdError

MAX_LISTED = 20


def error_at(place: SourceLocation, message: str, hint: str = "") -> InvalidInputError:
    """Return an error with the place in the file."""
    return InvalidInputError(f"{place}: {message}", hint)


class ProblemList:
    """Collects problems, so that a person can fix them all at once."""

    def __init__(self) -> None:
        self._found: list[LakeholdError] = []

    @contextmanager
    def collect(self, place: SourceLocation | None = None) -> Iterator[None]:
        """Collect an error and go on. An error that does not know its place gets this one."""
        try:
            yield
        except LakeholdError as error:
            self._found.append(error if place is None else error_at(place, error.message, error.hint))

    def add(self, place: SourceLocation, message: str, hint: str = "") -> None:
        """Add a problem."""
        self._found.append(error_at(place, message, hint))

    def raise_any(self) -> None:
        """Raise all problems as one error, if there are any."""
        if not self._found:
            return
        if len(self._found) == 1 and isinstance(self._found[0], InvalidInputError | ModelError):
            raise self._found[0]
        lines = [str(error) for error in self._found[:MAX_LISTED]]
        if len(self._found) > MAX_LISTED:
            lines.append(f"… and {len(self._found) - MAX_LISTED} more problems.")
        raise InvalidInputError("\n".join(lines))


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LARGEST = 50_000_000
_MOST_PARTS = 5_000_000
_DEEPEST = 100
_HINT = "Indent with spaces, and put texts with : or # in quotes."


@dataclass(slots=True)
class ScalarNode:
    """A scalar."""

    value: str
    place: SourceLocation
    bare: bool
    """Whether it stands without quotes: only then can it be nothing at all."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return self.bare and self.value in {"", "~", "null"}


@dataclass(slots=True)
class ListNode:
    """A sequence of nodes."""

    items: list[Node]
    place: SourceLocation


@dataclass(slots=True)
class MappingNode:
    """A mapping with unique names."""

    entries: dict[str, tuple[ScalarNode, Node]]
    place: SourceLocation
    ends: int = 0
    """The first line after it."""


Node = ScalarNode | ListNode | MappingNode


def parse_document(text: str, file: str) -> MappingNode:
    """Return the outermost mapping of a text; an empty one if there is only white space and comments."""
    if len(text) > _LARGEST:
        raise error_at(SourceLocation(file, 1), f"{len(text):,} characters are too many for one file.", "Split it.")
    root = _Composer(file).root(_events(text, file))
    if root is None or (isinstance(root, ScalarNode) and root.is_empty):
        return MappingNode({}, SourceLocation(file, 1))
    if not isinstance(root, MappingNode):
        raise error_at(root.place, "a file is a mapping of names.", "Begin with a section, for example `members:`.")
    return root


def _events(text: str, file: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=LOADER)
    except ReaderError as error:
        before = text.encode("utf-8", "replace")[: error.position]
        place = SourceLocation(file, before.count(b"\n") + 1)
        raise error_at(place, "not YAML: it contains a character that is not allowed.", "Remove it.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise error_at(
            SourceLocation(file, mark.line + 1 if mark else 1), f"not YAML: {problem[:200]}.", _HINT
        ) from error
    except (ValueError, OverflowError) as error:
        raise error_at(SourceLocation(file, 1), "not YAML: something in it cannot be read.", _HINT) from error


@dataclass(slots=True)
class _OpenNode:
    """A sequence or mapping that has not ended yet."""

    node: ListNode | MappingNode
    anchor: str | None
    parts: int = 1
    key: ScalarNode | None = None


@dataclass(slots=True)
class _Composer:
    """Builds nodes from events without recursion, so that deep nesting is refused rather than followed."""

    file: str
    anchors: dict[str, tuple[Node, int] | None] = field(default_factory=dict)
    open: list[_OpenNode] = field(default_factory=list)
    documents: int = 0
    result: Node | None = None

    def root(self, events: Iterator[yaml.Event]) -> Node | None:
        for event in events:
            self._take(event)
        return self.result

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._add(ScalarNode(event.value, self._opened(event), not event.style), event.anchor, 1)
            case yaml.MappingStartEvent():
                self.open.append(_OpenNode(MappingNode({}, self._opened(event)), event.anchor))
            case yaml.SequenceStartEvent():
                self.open.append(_OpenNode(ListNode([], self._opened(event)), event.anchor))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise error_at(self._place(event), "a second document begins here.", "Remove the line `---`.")

    def _place(self, event: yaml.Event) -> SourceLocation:
        return SourceLocation(self.file, event.start_mark.line + 1 if event.start_mark else 1)

    def _opened(self, event: yaml.NodeEvent) -> SourceLocation:
        place = self._place(event)
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise error_at(place, f"the tag {quote_excerpt(tag)} has no meaning here.", "Remove it.")
        if event.anchor is not None:
            if event.anchor in self.anchors:
                raise error_at(
                    place, f"the anchor {quote_excerpt(event.anchor)} is defined twice.", "Rename one of them."
                )
            self.anchors[event.anchor] = None
        if len(self.open) == _DEEPEST:
            raise error_at(place, f"the file is nested more than {_DEEPEST} deep.", "Flatten it.")
        return place

    def _alias(self, event: yaml.AliasEvent) -> None:
        place = self._place(event)
        if event.anchor not in self.anchors:
            raise error_at(
                place, f"there is no anchor {quote_excerpt(str(event.anchor))} above.", "Write the part out."
            )
        known = self.anchors[event.anchor]
        if known is None:
            raise error_at(place, "this part contains itself.", "Write it out where the alias stands.")
        node, parts = known
        self._add(node, None, parts)

    def _end(self, event: yaml.Event) -> None:
        ended = self.open.pop()
        if isinstance(ended.node, MappingNode) and event.end_mark:
            ended.node.ends = event.end_mark.line + (1 if event.end_mark.column else 0)
        self._add(ended.node, ended.anchor, ended.parts)

    def _add(self, node: Node, anchor: str | None, parts: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = (node, parts)
        if not self.open:
            self.result = node
            return
        around = self.open[-1]
        around.parts += parts
        if around.parts > _MOST_PARTS:
            raise error_at(node.place, f"with its aliases this has more than {_MOST_PARTS:,} parts.", "Repeat less.")
        if isinstance(around.node, ListNode):
            around.node.items.append(node)
        elif around.key is None:
            around.key = _key(node, around.node)
        else:
            around.node.entries[around.key.value] = (around.key, node)
            around.key = None


def _key(node: Node, table: MappingNode) -> ScalarNode:
    if not isinstance(node, ScalarNode) or node.is_empty:
        raise error_at(node.place, "a name must be a single word or text.", "Write `name: value` lines.")
    if node.value in table.entries:
        first = table.entries[node.value][0].place.line
        raise error_at(
            node.place, f"{quote_excerpt(node.value)} appears twice; first in line {first}.", "Keep one of them."
        )
    return node
