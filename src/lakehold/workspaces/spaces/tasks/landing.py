"""Landing tasks: streams of a data connection become datasets, in full or by their changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lakehold.connectors.database.settings import TablePartitioning
from lakehold.connectors.settings import SyncMode
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.workspaces.spaces.tasks.base import DatasetName, TaskSettings, refuse_doubles


class LandingMode(StrEnum):
    """The way in which a stream is landed after the first time, when all of it is loaded."""

    RELOAD = "reload"
    """All rows again, in the place of those that are there."""
    COMPARE = "compare"
    """All rows are read and compared by key: only what is new, changed or gone is written."""
    INCREMENTAL = "incremental"
    """Only rows beyond the highest value of a cursor are read."""
    CHANGES = "changes"
    """Change data capture: the inserts, updates and deletes that the database has logged."""

    @property
    def sync_mode(self) -> SyncMode:
        """The sync mode of a stream that is read by queries."""
        return _SYNC_MODES[self]


_SYNC_MODES = {
    LandingMode.RELOAD: SyncMode.FULL,
    LandingMode.COMPARE: SyncMode.MIRROR,
    LandingMode.INCREMENTAL: SyncMode.INCREMENTAL,
}


class SchemaChanges(StrEnum):
    """The policy for columns that are added, widened or dropped at the source."""

    APPLY = "apply"
    """The dataset follows: columns are added and widened; one that is gone is empty from then on."""
    IGNORE = "ignore"
    """The dataset keeps the columns that it has."""
    STOP = "stop"
    """The run fails and says what has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingDataset(SettingsRecord):
    """A stream and the dataset that it becomes."""

    name: DatasetName
    stream: Text
    """As the source calls it."""
    mode: LandingMode = LandingMode.RELOAD
    keys: tuple[str, ...] = ()
    cursor: str = ""
    """The column that only grows, for incremental landing."""
    parts: TablePartitioning | None = None
    """How a table of a database is read in parallel."""
    allow_empty: bool = False
    """Whether a source without rows may empty the dataset."""

    def __post_init__(self) -> None:
        if self.mode in {LandingMode.COMPARE, LandingMode.CHANGES} and not self.keys:
            raise InvalidSettingError(f"{self.name} has no key.", "Name the key columns.", field="keys")
        if self.mode is LandingMode.INCREMENTAL and not self.cursor:
            hint = "Name a column whose values only grow."
            raise InvalidSettingError(f"{self.name} has no cursor.", hint, field="cursor")


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingSettings(TaskSettings):
    """A landing task."""

    label: ClassVar[str] = "Landing"
    icon: ClassVar[str] = "download"

    type: Literal["landing"] = "landing"
    connection: Text
    """The data connection to read from, by its id."""
    datasets: tuple[LandingDataset, ...] = ()
    schema_changes: SchemaChanges = SchemaChanges.APPLY
    batch_changes: Annotated[int, Field(ge=1_000, le=10_000_000)] = 500_000
    """How many captured changes are applied at once; a transaction is never split."""
    retained_warning_mb: Annotated[int, Field(ge=1)] = 1024
    """How much of its log the source database may keep for captured changes before that is a problem of the task."""

    def __post_init__(self) -> None:
        refuse_doubles(self.dataset_names())

    def dataset_names(self) -> Sequence[str]:
        """Return the names of the datasets that it makes."""
        return [each.name for each in self.datasets]

    def captured(self) -> Sequence[LandingDataset]:
        """Return the datasets that follow the changes that the database has logged."""
        return [each for each in self.datasets if each.mode is LandingMode.CHANGES]

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield its connection."""
        yield "connection", self.connection, "sources"
