"""Replication tasks: datasets are sent to tables of a target connection."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.workspaces.spaces.tasks.base import DatasetReference, TaskSettings, used_tasks


class ReplicationMode(StrEnum):
    """How the rows of the target table are treated."""

    FULL = "full"
    """They are replaced by all rows of the dataset."""
    APPLY = "apply"
    """Those with the same key are changed, new ones are added."""
    STORE = "store"
    """They stay, and all rows are added with each run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicatedTable(SettingsRecord):
    """A dataset and the table of the target that it is sent to."""

    source: DatasetReference
    table: Text
    schema: str = ""
    mode: ReplicationMode = ReplicationMode.FULL
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode is ReplicationMode.APPLY and not self.keys:
            raise InvalidSettingError(f"{self.table} has no key.", "Name the key columns.", field="keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationSettings(TaskSettings):
    """A replication task."""

    label: ClassVar[str] = "Replication"
    icon: ClassVar[str] = "send"

    type: Literal["replication"] = "replication"
    connection: Text
    """The data connection to write to, by its id."""
    tables: tuple[ReplicatedTable, ...] = ()

    def __post_init__(self) -> None:
        names = [(each.schema.casefold(), each.table.casefold()) for each in self.tables]
        twice = next((each for each in names if names.count(each) > 1), None)
        if twice is not None:
            message = f"Two datasets are sent to the table {quote(twice[1])}."
            raise InvalidSettingError(message, "Send one of them elsewhere.", field="tables")

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield its connection, and the tasks that it reads."""
        yield "connection", self.connection, "targets"
        yield from used_tasks(self.inputs(), "tables")

    def inputs(self) -> Sequence[DatasetReference]:
        """Return the datasets that it sends."""
        return [each.source for each in self.tables]
