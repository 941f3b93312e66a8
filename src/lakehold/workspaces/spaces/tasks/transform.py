"""Transform tasks: datasets made from those of other tasks, by SQL or by a chain of visual steps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text
from lakehold.workspaces.spaces.tasks.base import DatasetName, TaskSettings, refuse_doubles
from lakehold.workspaces.spaces.tasks.visual_steps.settings import VisualStep


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformDataset(SettingsRecord):
    """A dataset and the query whose rows it holds: as SQL, or as a chain of steps that begins with a dataset."""

    name: DatasetName
    sql: str = ""
    """Datasets are called `task.dataset`; those of other projects `lake.space.project.task.dataset`."""
    start: str = ""
    """The dataset that the chain of steps begins with, named as in SQL."""
    steps: tuple[VisualStep, ...] = ()
    mode: Literal["overwrite", "merge", "mirror", "append"] = "overwrite"
    keys: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.sql.strip()) == bool(self.start.strip()):
            hint = "Write sql, or choose the dataset that its steps start with."
            raise InvalidSettingError(f"{self.name} needs a query, or steps, and not both.", hint, field="sql")
        if self.steps and not self.start:
            raise InvalidSettingError(f"The steps of {self.name} have no start.", "Choose a dataset.", field="start")
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
