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


_LABEL_AND_TEXT = {
    CauseKind.MANUAL: ("Manual", "by hand"),
    CauseKind.SCHEDULE: ("Schedule", "by schedule"),
    CauseKind.DEPENDENCY: ("After", "after"),
    CauseKind.RETRY: ("Retry of", "again after"),
    CauseKind.MAINTENANCE: ("Maintenance", "for upkeep"),
    CauseKind.BACKFILL: ("Backfill", "by hand"),
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
        return " ".join(filter(None, (_LABEL_AND_TEXT[self.kind][1], self.run, self.cron, self.zone)))

    def label(self, *, run: str = "another run", schedule: str = "") -> str:
        """Return the label of the cause, with a run and a schedule as the reader may know them."""
        label, _ = _LABEL_AND_TEXT[self.kind]
        if self.run:
            return f"{label} {run}".strip()
        return f"{label}: {schedule or self.cron} ({self.zone})" if self.cron else label
