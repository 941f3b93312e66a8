"""The steps of lakehouse pipelines, with the settings that they had when their run began. `executors` executes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lakehold.runs.runnable import BackfillSpan, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTarget:
    """The target of written rows: an existing table, or one that is to be created in a layer."""

    pipeline: str
    """The pipeline whose edge names it."""
    target: str
    """The table, or the layer."""
    table: str = ""
    """The name of the table that is to be made in the layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """Options of writing rows into a table."""

    mode: str = "overwrite"
    keys: tuple[str, ...] = ()
    evolution: str = "merge"
    partitioned_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterialiseQuery(Step):
    """Write the rows of a query into a table."""

    workspace: str
    """By its name."""
    sql: str
    into: OutputTarget
    how: WriteOptions
    cursor: str = ""
    """The field that a span is about."""
    span: BackfillSpan | None = None
    """Only the rows of this part, in the place of those that are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateHistory(Step):
    """Update the history of a table."""

    source: str
    into: OutputTarget
    keys: tuple[str, ...]
    at: str = ""
    track: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    last_by: str = ""
    closes_missing: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestStream(Step):
    """Load a stream of a source into a table."""

    identity: ClassVar[str] = "stream"

    source: str
    source_settings: Mapping[str, object]
    stream: str
    stream_settings: Mapping[str, object]
    into: OutputTarget
    reload: bool = False
    """All of it anew, whatever was read before."""
    span: BackfillSpan | None = None
    """Only this part anew, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverTable(Step):
    """Send a table to a destination."""

    identity: ClassVar[str] = "table"

    destination: str
    settings: Mapping[str, object]
    table: str
    alone: bool
    """Whether it is the only table that the destination sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBackTable(Step):
    """Roll a table back to a snapshot."""

    table: str
    snapshot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeFields(Step):
    """Set the descriptions of a table's fields."""

    table: str
    fields: tuple[tuple[str, str], ...]
