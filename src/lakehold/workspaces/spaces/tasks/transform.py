"""Transform tasks: datasets made by SQL from those of other tasks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.workspaces.spaces.tasks.base import DatasetName, TaskSettings, refuse_doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformDataset(SettingsRecord):
    """A dataset and the query whose rows it holds."""

    name: DatasetName
    sql: Text
    """Datasets are called `task.dataset`; those of other projects `lake.space.project.task.dataset`."""
    mode: Literal["overwrite", "merge", "mirror", "append"] = "overwrite"
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.mode in {"merge", "mirror"} and not self.keys:
            raise InvalidSettingError(f"To merge, {self.name} needs a key.", "Name the key columns.", field="keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformSettings(TaskSettings):
    """A transform task."""

    label: ClassVar[str] = "Transform"
    icon: ClassVar[str] = "command"

    type: Literal["transform"] = "transform"
    reads: tuple[Text, ...] = ()
    """The tasks whose datasets its queries may read, by their ids."""
    datasets: tuple[TransformDataset, ...] = ()

    def __post_init__(self) -> None:
        refuse_doubles(self.dataset_names())

    def dataset_names(self) -> Sequence[str]:
        """Return the names of the datasets that it makes."""
        return [each.name for each in self.datasets]

    def uses(self) -> Iterator[tuple[str, str, str]]:
        """Yield the tasks that it reads."""
        for uid in dict.fromkeys(self.reads):
            yield "reads", uid, "reads"
