"""The kinds of a project and their settings: storages, data marts and destinations."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import Field

from lakehold.connectors import registry
from lakehold.connectors.database.settings import DatabaseSettings
from lakehold.connectors.settings import DestinationSettings, SourceSettings, SyncMode
from lakehold.kit.ids import quote
from lakehold.kit.network_policy import NetworkTarget
from lakehold.kit.settings_schema import (
    InvalidSettingError,
    NoSettings,
    SettingReference,
    SettingsRecord,
    SettingsSchema,
    Text,
    extend_record,
    is_required,
)
from lakehold.runs.runnable import RunSettings
from lakehold.workspaces.marts.report_settings import REPORT

PROJECT_KIND = "marts.project"
STORAGE_KIND = "marts.storage"
DATA_MART_KIND = "marts.data_mart"
DESTINATION_KIND = "marts.destination"
REPORT_KIND = "marts.report"

FEEDS = {name: record for name, record in registry.source_records().items() if not record.reads_volume}
"""The settings of the connectors that can feed a data mart."""
MAX_CHECKS = 100
JOIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_TYPE = re.compile(
    r"(boolean|tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|date|timestamp|timestamp_ntz|"
    r"string|binary|decimal|dec|numeric)(\(\d+(, ?-?\d+)?\))?|(char|varchar)\(\d+\)|(array|map|struct)<.+>",
    re.IGNORECASE,
)
"""The types of SQL that a column can be cast to."""
COPY_SUFFIX = ".parquet"
"""The suffix of the copy of a data mart in a folder."""
LIVE_TYPE = "live"
"""The type of a destination that BI tools pull from."""


class StorageType(StrEnum):
    """The type of a storage."""

    LAKE = "lake"
    DATABASE = "database"
    FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeStorageSettings(SettingsRecord):
    """Tables of a lakehouse of the tenant, read with the rights of the reader."""

    kind: Literal["lake"] = "lake"
    lakehouse: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStorageSettings(DatabaseSettings):
    """Tables and views of a database."""

    kind: Literal["database"] = "database"
    schemas: tuple[str, ...] = ()
    """Only these; empty for all that the user sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStorageSettings(SettingsRecord):
    """Files in a folder of the storage's own."""

    kind: Literal["files"] = "files"
    folder: str = ""
    """Subfolders are not read. Default: the top folder."""


StorageSettings = LakeStorageSettings | DatabaseStorageSettings | FileStorageSettings


class DefinitionType(StrEnum):
    """The definition type of a data mart."""

    SQL = "sql"
    TABLE = "table"
    PATTERN = "pattern"
    CONNECTOR = "connector"
    """Loaded from a stream of a database or API by its own connector, into its storage."""


@dataclass(frozen=True, slots=True)
class MartColumn(SettingsRecord):
    """A field of a data mart as its readers see it. A hidden field is not stored at all."""

    name: Text
    # Who corrects what it is called is not the author of what is read.
    alias: str = field(default="", compare=False)
    description: str = field(default="", compare=False)
    type: str = ""
    """Another one than it arrives with."""
    hidden: bool = False

    def __post_init__(self) -> None:
        if self.type and not _TYPE.fullmatch(self.type):
            hint = "Use an SQL type, such as bigint or decimal(10,2)."
            raise InvalidSettingError(f"There is no type {quote(self.type)}.", hint, field="type")


@dataclass(frozen=True, slots=True)
class MartJoin(SettingsRecord):
    """Another data mart that is joined to this one; its columns have the name of the join as a prefix."""

    mart: Text
    name: Text
    on: Mapping[str, str] = field(default_factory=dict)
    """The columns that are equal: ours, by theirs."""

    def __post_init__(self) -> None:
        if not JOIN_NAME.fullmatch(self.name):
            raise InvalidSettingError(
                f"A join cannot be named {quote(self.name)}.", "Use letters, digits and _ as a prefix.", field="name"
            )
        if not self.on or not all(ours.strip() and theirs.strip() for ours, theirs in self.on.items()):
            raise InvalidSettingError(
                f"The join {self.name} has no columns.", "Set on to the columns that are equal.", field="on"
            )


class CheckKind(StrEnum):
    """The kind of a check."""

    NOT_NULL = "not null"
    UNIQUE = "unique"
    ACCEPTED_VALUES = "accepted values"
    ROW_COUNT = "row count"
    FRESHNESS = "freshness"
    SQL = "sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityCheck(SettingsRecord):
    """One check of a data mart."""

    kind: Annotated[CheckKind, Field(alias="check")]
    given_name: Annotated[str, Field(alias="name")] = ""
    fields: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    least: Annotated[int, Field(ge=0)] = 0
    most: Annotated[int, Field(ge=0)] | None = None
    hours: Annotated[float, Field(ge=0)] = 24
    sql: str = ""
    """Gives the rows that are wrong."""
    stops: bool = False
    """Whether a run fails if it is broken; else it warns."""

    @property
    def name(self) -> str:
        """Its name, or what it checks."""
        return self.given_name or " ".join((self.kind, *self.fields)).strip()

    def __post_init__(self) -> None:
        kind = self.kind
        if kind not in {CheckKind.ROW_COUNT, CheckKind.SQL} and not self.fields:
            raise InvalidSettingError(f"A check of {kind} needs a field.", "Name it in fields.", field="fields")
        if kind in {CheckKind.NOT_NULL, CheckKind.ACCEPTED_VALUES, CheckKind.FRESHNESS} and len(self.fields) > 1:
            raise InvalidSettingError(
                f"A check of {kind} takes exactly one field.", "Write one check for each.", field="fields"
            )
        if kind is CheckKind.ACCEPTED_VALUES and not self.values:
            raise InvalidSettingError(f"A check of {kind} needs values.", "Write them in values.", field="values")
        if kind is CheckKind.SQL and not self.sql.strip():
            raise InvalidSettingError("A check by SQL has no sql.", "Write a SELECT of the wrong rows.", field="sql")
        if self.most is not None and self.most < self.least:
            raise InvalidSettingError(
                f"{self.most:,} rows at most are less than {self.least:,}.", "Correct least or most.", field="most"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MartSettings(SettingsRecord):
    """A data mart: what it is made from, how it is refreshed, and its columns, checks and joins.

    One that says nothing of what it is made from is a draft: it can be saved, but not refreshed.
    """

    by: DefinitionType | None = None
    sql: str = ""
    table: str = ""
    pattern: str = ""
    """Of the names of tables, with `*` for any letters."""
    stream: str = ""
    mode: SyncMode = SyncMode.FULL
    keys: tuple[str, ...] = ()
    cursor: str = ""
    columns: tuple[MartColumn, ...] = ()
    checks: tuple[QualityCheck, ...] = ()
    joins: tuple[MartJoin, ...] = ()
    kept_as: str = ""
    """The name of a copy of its rows in its storage; empty for none."""
    connector: str = ""
    """The connector that feeds it, whose settings are beside these."""
    published: bool = False
    reads: tuple[str, ...] = ()
    """The tables of a lakehouse that it was last seen to read."""
    withheld: tuple[str, ...] = ()
    """Columns that are hidden no more, and that readers get with the next refresh."""

    def __post_init__(self) -> None:
        if self.by is None and self.sql.strip():
            object.__setattr__(self, "by", DefinitionType.SQL)
        if self.by is not None and not self.text.strip():
            name = self.text_setting
            raise InvalidSettingError(f"The data mart has no {name}.", f"Set {name} in its settings.", field=name)
        if self.by is DefinitionType.CONNECTOR:
            self.connection()
        if self.mode in {SyncMode.MERGE, SyncMode.MIRROR} and not self.keys:
            raise InvalidSettingError("To merge, the data mart needs a primary key.", "Set keys.", field="keys")
        if self.mode is SyncMode.INCREMENTAL and not self.cursor:
            raise InvalidSettingError("Incremental loading needs a cursor.", "Set cursor.", field="cursor")
        if self.by is not None and reads_from(self.by, self.text, self.kept_as):
            message = f"The copy cannot be named {quote(self.kept_as)}: the data mart reads from that."
            raise InvalidSettingError(message, "Give the copy another name.", field="kept_as")
        if hidden := next((each.name for each in self.columns if each.hidden and each.name in self.keys), ""):
            raise InvalidSettingError(
                f"{hidden} is part of the primary key.", "Key fields cannot be hidden.", field="columns"
            )
        if len(self.checks) > MAX_CHECKS:
            raise InvalidSettingError(f"A data mart has {MAX_CHECKS} checks at most.", "Delete one.", field="checks")
        _refuse_doubles("column", [each.name for each in self.columns])
        _refuse_doubles("check", [each.given_name for each in self.checks if each.given_name])
        _refuse_doubles("join", [each.name for each in self.joins])

    @property
    def text_setting(self) -> str:
        """The setting that its definition is in."""
        return "stream" if self.by is DefinitionType.CONNECTOR else (self.by or DefinitionType.SQL).value

    @property
    def text(self) -> str:
        """The query, the table, the pattern or the stream."""
        return str(getattr(self, self.text_setting))

    def connection(self) -> SourceSettings:
        """Return the connection of a data mart that is loaded by a connector."""
        if not self.connector:
            hint = f"Use {', '.join(FEEDS)}."
            raise InvalidSettingError("The data mart has no connector.", hint, field="connector")
        record = FEEDS[self.connector]
        values = {each.name: getattr(self, each.name) for each in fields(record)}  # type: ignore[arg-type]
        given = {name: value for name, value in values.items() if value is not None}
        needed = (each.name for each in fields(record) if is_required(each))  # type: ignore[arg-type]
        for name in (name for name in needed if not str(given.get(name, "")).strip()):
            raise InvalidSettingError(f"The data mart has no {name}.", f"Set {name} in its settings.", field=name)
        return record(**given)

    def network_targets(self, secrets: Mapping[str, str]) -> Iterable[NetworkTarget]:
        """Return the hosts of the connector that feeds it, if one does."""
        return self.connection().network_targets(secrets) if self.by is DefinitionType.CONNECTOR else ()


def _refuse_doubles(noun: str, names: list[str]) -> None:
    if twice := next((name for name in names if names.count(name) > 1), ""):
        message = f"The {noun} {quote(twice)} of the data mart appears twice."
        raise InvalidSettingError(message, "Keep one of them, or choose another name.", field=f"{noun}s")


def reads_from(by: str, text: str, name: str) -> bool:
    """Return whether a definition reads what has this name in its storage, as far as the definition says so.

    A file has an ending there. A table without a schema may be in any schema, so it counts as the one that is read.
    """
    if not name or by not in {DefinitionType.TABLE, DefinitionType.PATTERN}:
        return False
    drawn = {text, text if "." in name else text.rpartition(".")[2]}
    called = {name, f"{name}{COPY_SUFFIX}"}
    if called & drawn:
        return True
    return by == DefinitionType.PATTERN and any(fnmatchcase(each, one) for each in called for one in drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings(DestinationSettings):
    """Reports that other programs pull."""

    to: Literal["live"] = "live"


def parse_definition(settings: Mapping[str, object]) -> MartSettings:
    """Return the settings of a data mart; refused if it is not defined."""
    found = DATA_MART.parse(settings)
    if found.by is None:
        raise InvalidSettingError("The data mart has no sql.", "Set sql in its settings.", field="sql")
    return found


def parse_connection(settings: Mapping[str, object]) -> SourceSettings:
    """Return the connection of a data mart whose definition may be unfinished."""
    undefined = {"by": None, "stream": None, "mode": None, "keys": None, "cursor": None}
    return DATA_MART.parse({**settings, **undefined}).connection()


def hidden_fields(settings: Mapping[str, object]) -> list[str]:
    """Return the names of the hidden columns of a data mart, whatever else is wrong with its settings."""
    columns = settings.get("columns")
    found = columns if isinstance(columns, list) else ()
    return [str(each.get("name")) for each in found if isinstance(each, Mapping) and each.get("hidden") is True]


def _storage_references(settings: StorageSettings) -> Iterator[SettingReference]:
    if isinstance(settings, LakeStorageSettings):
        yield SettingReference("lakehouse", "lakehouse.lakehouse", settings.lakehouse)


def _mart_references(settings: MartSettings) -> Iterator[SettingReference]:
    for n, join in enumerate(settings.joins):
        yield SettingReference(f"joins.{n}.mart", DATA_MART_KIND, join.mart)


PROJECT = SettingsSchema[NoSettings]("project", NoSettings, common=RunSettings)
STORAGE = SettingsSchema[StorageSettings](
    "storage",
    {"lake": LakeStorageSettings, "database": DatabaseStorageSettings, "files": FileStorageSettings},
    tag="kind",
    references=_storage_references,
)
DATA_MART = SettingsSchema[MartSettings](
    "data mart",
    extend_record(MartSettings, FEEDS, "connector"),
    managed=("published", "reads", "withheld"),
    parts=("columns", "mode", "keys", "cursor", "checks", "kept_as", "joins"),
    common=RunSettings,
    references=_mart_references,
)
DESTINATION = SettingsSchema[DestinationSettings](
    "destination", {**registry.destination_records(), LIVE_TYPE: LiveSettings}, tag="to"
)
QUALITY_CHECK = SettingsSchema[QualityCheck]("check", QualityCheck)
BY_KIND: Mapping[str, SettingsSchema[Any]] = {
    "project": PROJECT,
    "storage": STORAGE,
    "data_mart": DATA_MART,
    "destination": DESTINATION,
    "report": REPORT,
}
