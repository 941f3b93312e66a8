"""The steps that running a pipeline of a lakehouse takes: what each is told. `doing` does them."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.runs.runnable import Span, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Into:
    """Where rows go: a table that is there, or one that is to be made in a layer."""

    pipeline: str
    """Whose edge says so."""
    end: str
    """The table, or the layer."""
    table: str = ""
    """The name of the table that is to be made in the layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How rows go into a table."""

    mode: str = "overwrite"
    keys: tuple[str, ...] = ()
    evolution: str = "merge"
    partitioned_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Materialise(Step):
    """Rows of a query into a table."""

    workspace: str
    """By its name."""
    sql: str
    into: Into
    how: How
    cursor: str = ""
    """The field that a span is about."""
    span: Span | None = None
    """Only the rows of this part, in the place of those that are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep(Step):
    """The history of a table."""

    source: str
    into: Into
    keys: tuple[str, ...]
    at: str = ""
    track: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    last_by: str = ""
    closes_missing: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest(Step):
    """A stream of a source into a table."""

    source: str
    stream: str
    into: Into
    reload: bool = False
    """All of it anew, whatever was read before."""
    span: Span | None = None
    """Only this part anew, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver(Step):
    """A table to where a destination sends it."""

    destination: str
    table: str
    alone: bool
    """Whether it is the only table that the destination sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep(Step):
    """One part of the upkeep of a table: its files are others afterwards, and its rows are not."""

    table: str
    part: str
    """`compact`, `expire` or `sweep`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Step):
    """A table as it was."""

    table: str
    snapshot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Step):
    """Descriptions of the fields of a table."""

    table: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore(Step):
    """The rows of a table that was dropped, into one that is new."""

    table: str
    number: int
    """That the rows lie under."""
