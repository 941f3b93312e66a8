"""The options of a match run, and the report that it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """The settings of matching, and how much of the machine it may use."""

    threshold: float = 0.95
    review: float = 0.3
    blocking: tuple[tuple[str, ...], ...] = ()
    max_pairs: int = 200_000_000
    seed: int = 1
    memory_limit: str = "4GB"
    threads: int = 2
    temporary: str = ""


@dataclass(slots=True)
class MatchReport:
    """The figures of a run."""

    records: int = 0
    distinct: int = 0
    """Records that differ in what is matched."""
    pairs: int = 0
    compared: int = 0
    rules: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    thresholds: list[dict[str, float]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
