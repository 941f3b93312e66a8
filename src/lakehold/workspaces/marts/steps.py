"""The steps of data marts and reports. `executors` executes them."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.runs.runnable import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshMart(Step):
    """Refresh the rows of a data mart from its storage."""

    mart: str
    storage: str
    reload: bool = False
    """All of them, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChecks(Step):
    """Run the checks of a data mart."""

    mart: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyToStorage(Step):
    """Copy the rows of a data mart into its storage."""

    mart: str
    storage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendReport(Step):
    """Send the rows of a report to its destination."""

    report: str
    mart: str
    destination: str
