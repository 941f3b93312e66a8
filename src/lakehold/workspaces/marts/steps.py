"""The steps that refreshing a data mart and running a report take: what each is told. `doing` does them."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.runs.runnable import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh(Step):
    """The rows of a data mart anew, as its definition draws them from its storage."""

    mart: str
    storage: str
    reload: bool = False
    """All of them, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Step):
    """The checks of a data mart."""

    mart: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep(Step):
    """A copy of the rows of a data mart, in its storage."""

    mart: str
    storage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Send(Step):
    """What a report asks of its data mart, to its destination."""

    report: str
    mart: str
    destination: str
