"""The cause of a run: why it was started. The command imports this too, so it knows no database."""

from dataclasses import dataclass
from enum import StrEnum


class CauseKind(StrEnum):
    """The kinds of causes, as they are stored."""

    MANUAL = "manual"
    SCHEDULE = "schedule"
    DEPENDENCY = "dependency"
    """Another run has succeeded."""
    RETRY = "retry"
    """Somebody started it anew, with the options of another run."""
    MAINTENANCE = "maintenance"
    BACKFILL = "backfill"
    """Somebody started it over a past span."""


_LABELS = {
    CauseKind.MANUAL: "Manual",
    CauseKind.SCHEDULE: "Schedule",
    CauseKind.DEPENDENCY: "After",
    CauseKind.RETRY: "Retry of",
    CauseKind.MAINTENANCE: "Maintenance",
    CauseKind.BACKFILL: "Backfill",
}
_TEXTS = {
    CauseKind.MANUAL: "by hand",
    CauseKind.SCHEDULE: "by schedule",
    CauseKind.DEPENDENCY: "after",
    CauseKind.RETRY: "again after",
    CauseKind.MAINTENANCE: "for upkeep",
    CauseKind.BACKFILL: "by hand",
}


@dataclass(frozen=True, slots=True)
class RunCause:
    """The cause of a run: its kind, with the run or the schedule that started it."""

    kind: CauseKind
    run: str = ""
    """The run that it came after, or that it repeats."""
    cron: str = ""
    zone: str = ""

    @property
    def text(self) -> str:
        """The cause as text in the wording of earlier releases, for clients and audit logs."""
        return " ".join(part for part in (_TEXTS[self.kind], self.run, self.cron, self.zone) if part)

    def label(self, *, run: str = "another run", schedule: str = "") -> str:
        """Return the label of the cause, with a run and a schedule as the reader may know them."""
        if self.run:
            return f"{_LABELS[self.kind]} {run}".strip()
        return f"{_LABELS[self.kind]}: {schedule or self.cron} ({self.zone})" if self.cron else _LABELS[self.kind]
