"""The form of a storage or a destination of a project, as that of every thing that reaches somewhere else."""

from __future__ import annotations

from abc import ABC
from typing import TypeVar

from lakehold.web import urls
from lakehold.web.lakehouse import reaching

_F = TypeVar("_F", bound=reaching.Filled)


class Form(reaching.Form[_F], ABC):
    """For a new one in a project, or for one that is there."""

    holder = "project"

    def __init_subclass__(cls) -> None:
        """Where it is edited and listed goes by its kind."""
        super().__init_subclass__()
        word = cls.kind.rpartition(".")[2]
        cls.part, cls.listed = f"{word}/edit", word

    @property
    def to(self) -> str:
        """Where it is sent."""
        return super().to if self.found else urls.workspace(self.within, f"{self.word}s/new")

    def heading(self) -> tuple[str, str]:
        """What stands last in the path to it, and above it."""
        return ("Edit", f"Edit {self.found.name}") if self.found else super().heading()
