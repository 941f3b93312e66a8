"""A YAML text as nodes that know their lines. Every value stays the text that it was written as, so that an id `no` or
`0123` means what it says. What no file needs is refused: tags, parts that contain themselves, endless aliases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml.reader import ReaderError

from lakehold.access.model.errors import SourceLocation, quote_excerpt
from lakehold.code.problems import wrong

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LARGEST = 50_000_000
_MOST_PARTS = 5_000_000
_DEEPEST = 100
_HINT = "Indent with spaces, and put texts with : or # in quotes."


@dataclass(slots=True)
class Text:
    """One word or text."""

    value: str
    place: SourceLocation
    bare: bool
    """Whether it stands without quotes: only then can it be nothing at all."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return self.bare and self.value in {"", "~", "null"}


@dataclass(slots=True)
class Row:
    """Some in a row."""

    items: list[Node]
    place: SourceLocation


@dataclass(slots=True)
class Table:
    """Names with something to each. No name stands twice."""

    entries: dict[str, tuple[Text, Node]]
    place: SourceLocation
    ends: int = 0
    """The first line after it."""


Node = Text | Row | Table


def compose(text: str, file: str) -> Table:
    """The outermost table of a text; an empty one if there is only white space and comments."""
    if len(text) > _LARGEST:
        raise wrong(SourceLocation(file, 1), f"{len(text):,} characters are too many for one file.", "Split it.")
    root = _Composer(file).root(_events(text, file))
    if root is None or (isinstance(root, Text) and root.is_empty):
        return Table({}, SourceLocation(file, 1))
    if not isinstance(root, Table):
        raise wrong(root.place, "a file is a mapping of names.", "Begin with a section, for example `members:`.")
    return root


def _events(text: str, file: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=LOADER)
    except ReaderError as error:
        before = text.encode("utf-8", "replace")[: error.position]
        place = SourceLocation(file, before.count(b"\n") + 1)
        raise wrong(place, "not YAML: a character in it that no text has.", "Remove it.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise wrong(SourceLocation(file, mark.line + 1 if mark else 1), f"not YAML: {problem[:200]}.", _HINT) from error
    except (ValueError, OverflowError) as error:
        raise wrong(SourceLocation(file, 1), "not YAML: something in it cannot be read.", _HINT) from error


@dataclass(slots=True)
class _Open:
    """A row or table that has not ended yet."""

    node: Row | Table
    anchor: str | None
    parts: int = 1
    key: Text | None = None


@dataclass(slots=True)
class _Composer:
    """Puts events together, without recursion: a text may be deep, and is refused rather than followed down."""

    file: str
    anchors: dict[str, tuple[Node, int] | None] = field(default_factory=dict)
    open: list[_Open] = field(default_factory=list)
    documents: int = 0
    result: Node | None = None

    def root(self, events: Iterator[yaml.Event]) -> Node | None:
        for event in events:
            self._take(event)
        return self.result

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._add(Text(event.value, self._opened(event), not event.style), event.anchor, 1)
            case yaml.MappingStartEvent():
                self.open.append(_Open(Table({}, self._opened(event)), event.anchor))
            case yaml.SequenceStartEvent():
                self.open.append(_Open(Row([], self._opened(event)), event.anchor))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise wrong(self._place(event), "a second document begins here.", "Remove the line `---`.")

    def _place(self, event: yaml.Event) -> SourceLocation:
        return SourceLocation(self.file, event.start_mark.line + 1 if event.start_mark else 1)

    def _opened(self, event: yaml.NodeEvent) -> SourceLocation:
        place = self._place(event)
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise wrong(place, f"the tag {quote_excerpt(tag)} has no meaning here.", "Remove it.")
        if event.anchor is not None:
            if event.anchor in self.anchors:
                raise wrong(place, f"the anchor {quote_excerpt(event.anchor)} stands twice.", "Rename one of them.")
            self.anchors[event.anchor] = None
        if len(self.open) == _DEEPEST:
            raise wrong(place, f"the file is nested more than {_DEEPEST} deep.", "No company is as deep as that.")
        return place

    def _alias(self, event: yaml.AliasEvent) -> None:
        place = self._place(event)
        if event.anchor not in self.anchors:
            raise wrong(place, f"there is no anchor {quote_excerpt(str(event.anchor))} above.", "Write the part out.")
        known = self.anchors[event.anchor]
        if known is None:
            raise wrong(place, "this part contains itself.", "Write it out where the alias stands.")
        node, parts = known
        self._add(node, None, parts)

    def _end(self, event: yaml.Event) -> None:
        ended = self.open.pop()
        if isinstance(ended.node, Table) and event.end_mark:
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
            raise wrong(node.place, f"with its aliases this has more than {_MOST_PARTS:,} parts.", "Repeat less.")
        if isinstance(around.node, Row):
            around.node.items.append(node)
        elif around.key is None:
            around.key = _key(node, around.node)
        else:
            around.node.entries[around.key.value] = (around.key, node)
            around.key = None


def _key(node: Node, table: Table) -> Text:
    if not isinstance(node, Text) or node.is_empty:
        raise wrong(node.place, "a name must be a single word or text.", "Write `name: value` lines.")
    if node.value in table.entries:
        first = table.entries[node.value][0].place.line
        raise wrong(
            node.place, f"{quote_excerpt(node.value)} stands twice; first in line {first}.", "Keep one of them."
        )
    return node
