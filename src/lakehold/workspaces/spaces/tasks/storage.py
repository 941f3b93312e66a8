"""Storage tasks: the current rows of datasets by key, or every state that they had (SCD2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord
from lakehold.workspaces.spaces.tasks.base import (
    DatasetName,
    DatasetReference,
    TaskSettings,
    refuse_doubles,
    used_tasks,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageDataset(SettingsRecord):
    """A dataset and where its rows come from."""

    name: DatasetName
    source: DatasetReference
    keys: tuple[str, ...] = ()
    history: bool = False
    """Whether every state of a row is kept with its period (SCD2); else only the current one."""
    at: str = ""
    """The column that says when a state begins; without one, it is when the run reads it."""
    deletes: bool = True
    """Whether a row that is gone at the source goes here too; in a history, its last state ends."""

    def __post_init__(self) -> None:
        if not self.keys:
            raise InvalidSettingError(f"{self.name} has no key.", "Name the key columns.", field="keys")
        if self.at and not self.history:
            raise InvalidSettingError(
                f"{self.name} keeps no history, so nothing begins.", "Keep the history, or clear at.", field="at"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings(TaskSettings):
    """A storage task."""

    label: ClassVar[str] = "Storage"
    icon: ClassVar[str] = "database"

    type: Literal["storage"] = "storage"
    datasets: tuple[StorageDataset, ...] = ()

    def __post_init__(self) -> None:
        refuse_doubles(self.dataset_names())

    def dataset_names(self) -> Sequence[str]:
        """Return the names of the datasets that it makes."""
        return [each.name for each in self.datasets]

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield the tasks that it reads."""
        return used_tasks(self.inputs())

    def inputs(self) -> Sequence[DatasetReference]:
        """Return the datasets that it reads."""
        return [each.source for each in self.datasets]
