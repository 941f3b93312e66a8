"""The steps that running a pipeline of a lakehouse takes: what each is told. `doing` does them."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.runs.runnable import Step


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver(Step):
    """A table to where a destination sends it."""

    destination: str
    table: str
    alone: bool
    """Whether it is the only table that the destination sends."""
