"""Register data tasks: tables of a lakehouse and data marts as datasets, whose rows are read where they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord
from lakehold.workspaces.spaces.tasks.base import DatasetName, TaskSettings, refuse_doubles

TASK_EDGES = {"table": "tables", "mart": "marts"}
"""The edges of a task to what it registers, by the edge of the dataset that shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSource(SettingsRecord):
    """The table that a dataset shows: one of these."""

    table: str = ""
    """A table of a lakehouse, by its id."""
    mart: str = ""
    """A data mart, by its id."""

    def __post_init__(self) -> None:
        if bool(self.table) == bool(self.mart):
            message = "A registered dataset has one source: a table of a lakehouse, or a data mart."
            raise InvalidSettingError(message, "Set table or mart.")

    @property
    def edge(self) -> str:
        """The edge of the dataset that leads to it."""
        return "table" if self.table else "mart"

    @property
    def uid(self) -> str:
        """The id of the table or data mart."""
        return self.table or self.mart


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredDataset(SettingsRecord):
    """A dataset, and the table whose rows it shows."""

    name: DatasetName
    source: RegisteredSource


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterSettings(TaskSettings):
    """A register data task."""

    label: ClassVar[str] = "Register data"
    icon: ClassVar[str] = "link"

    type: Literal["register"] = "register"
    datasets: tuple[RegisteredDataset, ...] = ()

    def __post_init__(self) -> None:
        refuse_doubles(self.dataset_names())

    def dataset_names(self) -> Sequence[str]:
        """Return the names of the datasets that it makes."""
        return [each.name for each in self.datasets]

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield the tables and data marts that it registers, each once."""
        seen: set[str] = set()
        for n, each in enumerate(self.datasets):
            if each.source.uid not in seen:
                seen.add(each.source.uid)
                yield f"datasets.{n}.source.{each.source.edge}", each.source.uid, TASK_EDGES[each.source.edge]
