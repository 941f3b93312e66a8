"""Describes problems of replication slots: changes that are lost, and a log that may fill the disk of its database."""

from typing import Protocol

_MB = 1024 * 1024


class RetainedLog(Protocol):
    """The state of a slot, as far as the log is kept for it."""

    @property
    def is_lost(self) -> bool:
        """Whether the database has removed changes that were not read yet."""

    @property
    def retained(self) -> int:
        """The bytes that are kept."""

    @property
    def left(self) -> int | None:
        """The bytes that can be written before the slot may be lost; None if it is kept whatever it takes."""


def describe_slot_problem(slot: RetainedLog | None, warning_mb: int) -> str:
    """Return what is wrong with a slot; empty if nothing is."""
    if slot is None:
        return "The replication slot was dropped at the source. Reload the task."
    if slot.is_lost:
        return "The source database has removed changes that were not read. Reload the task."
    if slot.left is not None and slot.left < slot.retained:
        left = f"{max(slot.left, 0) // _MB:,} MB"
        return f"The source database removes changes after {left} more of its log. Run the task before."
    if slot.retained >= warning_mb * _MB:
        kept = (
            f"The source database keeps {slot.retained // _MB:,} MB of its log for this task, which may fill its disk."
        )
        return f"{kept} Run the task more often, or delete it."
    return ""
