"""The base of the settings of data tasks, and references to datasets of other tasks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import StringConstraints

from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text

DatasetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""The name of a dataset, by which SQL finds it."""
MAX_DATASETS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetReference(SettingsRecord):
    """A dataset of a task: one of the same project, or of another one."""

    task: Text
    """The task, by its id."""
    dataset: DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedState(SettingsRecord):
    """What was prepared of a task."""

    fingerprint: str
    """The digest of its settings then."""
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings(SettingsRecord):
    """The base of the settings of all tasks."""

    label: ClassVar[str]
    """What such a task is called."""
    icon: ClassVar[str] = "workflow"

    prepared: PreparedState | None = None
    """Set by the platform."""

    def dataset_names(self) -> Sequence[str]:
        """Return the names of the datasets that it makes."""
        return ()

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield the connections and tasks that it uses: the setting that names it, its id, and the edge to it."""
        yield from ()

    def inputs(self) -> Sequence[DatasetReference]:
        """Return the datasets that it reads by name; a query may read all datasets of the tasks that it names."""
        return ()


def refuse_doubles(names: Iterable[str], field: str = "datasets") -> None:
    """Refuse datasets of one name, and more of them than a task may have."""
    found = list(names)
    if len(found) > MAX_DATASETS:
        message, hint = f"The task has {len(found):,} datasets.", f"Use {MAX_DATASETS} at most; make another task."
        raise InvalidSettingError(message, hint, field=field)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise InvalidSettingError(f"Two datasets are called {quote(twice)}.", "Rename one of them.", field=field)


def used_tasks(references: Iterable[DatasetReference], field: str = "datasets") -> Iterator[tuple[str, str, str]]:
    """Yield the tasks that references lead to, as `TaskSettings.uses` does."""
    for uid in dict.fromkeys(each.task for each in references):
        yield field, uid, "reads"
