"""Settings of the kinds of a lakehouse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from lakehold.connectors import registry
from lakehold.connectors.database.settings import TablePartitioning
from lakehold.connectors.files.settings import FileFormat
from lakehold.connectors.settings import DestinationSettings, SourceSettings, SyncMode
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings_schema import (
    InvalidSettingError,
    SettingReference,
    SettingsRecord,
    SettingsSchema,
    TableName,
    Text,
)
from lakehold.runs.runnable import RunSettings

WriteMode = Literal["overwrite", "append", "merge", "mirror"]
Evolution = Literal["merge", "strict", "overwrite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LakehouseSettings(SettingsRecord):
    """Settings of a lakehouse."""

    upkeep: bool = True
    """Whether its tables are compacted and old snapshots expired by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings(SettingsRecord):
    """Settings of a stream: how it is loaded."""

    stream: Text
    """Its name at the source; one with a star is all files that match it."""
    mode: SyncMode = SyncMode.FULL
    keys: tuple[str, ...] = ()
    cursor: str = ""
    table: TableName = ""
    """The name of the table that is created in the source's layer, if the stream writes no table yet."""
    format: FileFormat | None = None
    """How a file is read, where the guess is not to be taken."""
    parts: TablePartitioning | None = None
    """How a table of a database is read in parallel."""
    keep_bad: bool = True
    """Whether rows that cannot be read are kept in a table of their own."""
    most_bad: Annotated[int, Field(ge=0)] | None = None
    """With more bad rows than these the run fails."""
    allow_empty: bool = False
    """Whether no rows at all are written too; else the run fails."""
    evolution: Evolution = "merge"
    partitioned_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode in {SyncMode.MERGE, SyncMode.MIRROR} and not self.keys:
            raise InvalidSettingError("To merge, the stream needs a primary key.", "Set keys.", field="keys")
        if self.mode is SyncMode.INCREMENTAL and not self.cursor:
            raise InvalidSettingError("Incremental loading needs a cursor.", "Set cursor.", field="cursor")
        if self.format is not None:
            try:
                self.format.validated()
            except InvalidInputError as error:
                raise InvalidSettingError(error.message, error.hint, field="format") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings(SettingsRecord):
    """A query whose rows are written into a table."""

    sql: Text
    mode: WriteMode = "overwrite"
    keys: tuple[str, ...] = ()
    evolution: Evolution = "merge"
    partitioned_by: tuple[str, ...] = ()
    cursor: str = ""
    """The field by which a part of the rows is written again."""
    table: TableName = ""
    """The name of the table that is created, if the query writes none yet."""

    def __post_init__(self) -> None:
        if self.mode in {"merge", "mirror"} and not self.keys:
            raise InvalidSettingError("To merge, the query needs a primary key.", "Set keys.", field="keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySettings(SettingsRecord):
    """Every state of each row of a table (SCD2)."""

    keys: tuple[str, ...] = ()
    at: str = ""
    """The field that says when a state begins; without one, it is when the run reads it."""
    track: tuple[str, ...] = ()
    """The fields whose changes count; without any, all but those that are ignored."""
    ignore: tuple[str, ...] = ()
    last_by: str = ""
    """The field whose greatest value wins, where a key arrives twice."""
    closes_missing: bool = True
    table: TableName = ""

    def __post_init__(self) -> None:
        if not self.keys:
            raise InvalidSettingError("The history has no keys.", "Name the key fields.", field="keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSettings(SettingsRecord):
    """A notebook."""

    table: TableName = ""
    """The name of the table that is created, if the notebook writes none yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedQuerySettings(SettingsRecord):
    """A query that somebody saved; its text may be unfinished."""

    sql: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings(SettingsRecord):
    """A table; one that was saved from a query has its text."""

    sql: str = ""


def _source_references(settings: SourceSettings) -> Iterator[SettingReference]:
    if settings.volume_id:
        yield SettingReference("volume", "lakehouse.volume", settings.volume_id, edge="reads")


SOURCE = SettingsSchema[SourceSettings](
    "source",
    registry.source_records(),
    tag="connector",
    common=RunSettings,
    references=_source_references,
    edges=("reads",),
)
STREAM = SettingsSchema[StreamSettings]("stream", StreamSettings, parts=("enabled",))
QUERY = SettingsSchema[QuerySettings](
    "query", QuerySettings, common=RunSettings, parts=("mode", "keys", "evolution", "partitioned_by", "cursor")
)
HISTORY = SettingsSchema[HistorySettings]("history", HistorySettings, common=RunSettings)
DESTINATION = SettingsSchema[DestinationSettings](
    "destination",
    {name: record for name, record in registry.destination_records().items() if record.takes_rows},
    tag="to",
    common=RunSettings,
    needed=("subject",),
)
TABLE = SettingsSchema[TableSettings]("table", TableSettings, common=RunSettings)
BY_KIND: Mapping[str, SettingsSchema[Any]] = {
    "lakehouse": SettingsSchema[LakehouseSettings]("lakehouse", LakehouseSettings, common=RunSettings),
    "source": SOURCE,
    "stream": STREAM,
    "query": QUERY,
    "history": HISTORY,
    "notebook": SettingsSchema[NotebookSettings]("notebook", NotebookSettings),
    "destination": DESTINATION,
    "saved_query": SettingsSchema[SavedQuerySettings]("query", SavedQuerySettings),
    "table": TABLE,
}
