"""The file format: its keywords, its notation of ids and times, and typed reading of nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import FactView
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access_as_code.parser import ListNode, MappingNode, Node, ScalarNode, error_at
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.scheduler.schedule import TriggerSchedule

TENANT_REF = "/"
ALL_REF = "/all"


@dataclass(frozen=True, slots=True)
class IdMapping:
    """Maps ids of files to those of one tenant and back."""

    tenant: str
    everyone: str

    @classmethod
    def from_view(cls, view: FactView, tenant: int) -> IdMapping:
        """Return the mapping of the tenant with this number."""
        return cls(view.uid(tenant), view.uid(view.everyone))

    def ref(self, uid: str) -> str:
        """Return the id in files of a tenant's id."""
        escaped = f"/{uid}" if uid.startswith("/") else uid
        return {self.tenant: TENANT_REF, self.everyone: ALL_REF}.get(uid, escaped)

    def uid(self, ref: str) -> str:
        """Return the tenant's id of an id in files."""
        return {TENANT_REF: self.tenant, ALL_REF: self.everyone}.get(ref) or unescape_ref(ref)

    def fact(self, fact: Fact) -> Fact:
        """Return a fact of the files with the tenant's ids."""
        match fact:
            case Grant(subject, role, resource):
                return Grant(self.uid(subject), role, self.uid(resource))
            case Edge(name, source, target):
                return Edge(name, self.uid(source), self.uid(target))
            case Attribute(resource, _, _, member):
                return replace(fact, resource=self.uid(resource), member=None if member is None else self.uid(member))


def unescape_ref(ref: str) -> str:
    """Return the id without the slash that distinguishes it from `/` and `/all`."""
    return ref.removeprefix("/")


def readable_name(ref: str, names: Mapping[str, str]) -> str:
    """Return the name to write beside an opaque id; empty where the id is readable."""
    hexadecimal = len(ref) == _HEX_LENGTH and not set(ref) - _HEX
    return names.get(ref, "") if hexadecimal else ""


_HEX_LENGTH = 16
_HEX = set("0123456789abcdef")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TICKS = re.compile(r"-?\d{12,19}")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time span. Without a beginning it holds now, without an end permanently."""

    since: Moment | None = None
    until: Moment | None = None

    def clip_from(self, at: Moment) -> TimeSpan | None:
        """Return the span from a moment on: without a beginning if it has begun, None if it is over."""
        if self.until is not None and self.until <= at:
            return None
        return self if self.since is None or self.since > at else TimeSpan(None, self.until)

    def covers(self, at: Moment) -> bool:
        """Whether the moment lies in the span."""
        return self.begin <= at < self.end

    @property
    def begin(self) -> Moment:
        """The beginning as a number that can be compared."""
        return -FOREVER if self.since is None else self.since

    @property
    def end(self) -> Moment:
        """The end as a number that can be compared."""
        return FOREVER if self.until is None else self.until

    def __str__(self) -> str:
        parts = [f"from {format_moment(self.since)}"] if self.since is not None else []
        return ", ".join(parts + ([f"until {format_moment(self.until)}"] if self.until is not None else []))


ALWAYS = TimeSpan()


def format_moment(at: Moment) -> str:
    """Return the shortest text of a moment that is exact."""
    try:
        found = _EPOCH + timedelta(microseconds=at)
    except OverflowError:
        return str(at)  # after the year 9999 there are no dates, only microseconds since 1970
    if found == found.replace(hour=0, minute=0, second=0, microsecond=0):
        return f"{found:%Y-%m-%d}".zfill(10)
    return found.isoformat().replace("+00:00", "Z")


def parse_moment(text: str) -> Moment:
    """Parse a moment."""
    is_number = _TICKS.fullmatch(text)
    if is_number and -FOREVER < int(text) < FOREVER:
        return int(text)
    try:
        iso = f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text
        found = None if is_number else datetime.fromisoformat(iso)
    except ValueError:
        found = None
    if found is None or (found.tzinfo is None and _DAY.fullmatch(text)):
        raise InvalidInputError(
            f"{text[:40]!r} is not a valid time.", "For example 2026-01-31, or 2026-01-31T12:00:00Z."
        )
    if found.tzinfo is None:
        raise InvalidInputError(f"The time {text} has no time zone.", "Add one: Z, or for example +01:00.")
    return (found - _EPOCH) // _TICK


SECTIONS = ("tenant", "all", "members", "groups", "workspaces", "models", "tests")
KEYWORDS = (
    "kind", "name", "email", "service", "description", "settings", "authors", "schedule", "schedules", "credentials",
    "members", "membership", "loose", "holds",
)  # fmt: skip
"""The format's own words in a thing. Everything else in it is a role, an edge or an attribute of its kind."""


def escape_keyword(name: str) -> str:
    """Return a name of a model as files write it, with a dot before it if it is also a keyword."""
    return f".{name}" if name in KEYWORDS else name


def read_text(node: Node, what: str) -> str:
    """Return the text of a scalar, or raise."""
    if not isinstance(node, ScalarNode):
        raise error_at(node.place, f"{what} is a single word or text.")
    if node.is_empty or not node.value:
        raise error_at(node.place, f"{what} is empty.", "Write something there, or remove the line.")
    return node.value


def read_mapping(node: Node, what: str, *, may_be_empty: bool = False) -> MappingNode:
    """Return the mapping, or raise."""
    if isinstance(node, ScalarNode) and node.is_empty:
        if may_be_empty:
            return MappingNode({}, node.place)
        raise error_at(node.place, f"{what} is empty.", "Write something under it, or remove the line.")
    if not isinstance(node, MappingNode):
        raise error_at(node.place, f"{what} is a mapping of names.", "Write `name: value` lines.")
    return node


def read_fields(node: Node, what: str, known: Collection[str]) -> dict[str, Node]:
    """Return the fields of a mapping, or raise if there are others than the known ones."""
    found = read_mapping(node, what)
    for name, (key, _) in found.entries.items():
        if name not in known:
            raise error_at(key.place, f"{quote_excerpt(name)} is not known in {what}.", did_you_mean(name, known))
    return {name: value for name, (_, value) in found.entries.items()}


def read_items(node: Node) -> list[Node]:
    """Return the items of a sequence, or a single node as a list."""
    return node.items if isinstance(node, ListNode) else [node]


def read_moment(node: Node, what: str) -> int:
    """Return the time of a scalar, or raise."""
    text = read_text(node, what)
    try:
        return parse_moment(text)
    except InvalidInputError as error:
        raise error_at(node.place, error.message, error.hint) from error


def read_entries(node: Node, what: str, key: str) -> Iterator[tuple[str, TimeSpan, SourceLocation]]:
    """Yield what a role, an edge or an attribute is set to: `ana`, `[ana, bob]`, or `{who: ana, until: 2026-01-31}`."""
    for part in read_items(node):
        if not isinstance(part, MappingNode):
            yield read_text(part, what), ALWAYS, part.place
            continue
        found = read_fields(part, what, (key, "from", "until"))
        if key not in found:
            raise error_at(part.place, f"`{key}:` is missing in {what}.", f"Write {{{key}: …, until: 2026-01-31}}.")
        span = TimeSpan(
            read_moment(found["from"], "from") if "from" in found else None,
            read_moment(found["until"], "until") if "until" in found else None,
        )
        if span.end <= span.begin:
            raise error_at(part.place, f"{what} ends before it begins.", "Choose a later end.")
        yield read_text(found[key], what), span, part.place


DEFINITION = "definition"
"""Names the author of all of a definition but the parts that have another one."""
AUTHOR_FIELDS = ("member", "actions", "resources")
SCHEDULE_FIELDS = ("cron", "zone", "after", "every", "parameters", "starter", "enabled")


def schedule_of(values: Mapping[str, object]) -> TriggerSchedule:
    """Return the schedule that the fields of a file describe."""
    after = values.get("after") or ()
    ends = tuple(map(str, after)) if isinstance(after, Sequence) and not isinstance(after, str) else (str(after),)
    return TriggerSchedule(
        str(values.get("cron") or ""), str(values.get("zone") or "UTC"), ends, values.get("every") is True
    )
