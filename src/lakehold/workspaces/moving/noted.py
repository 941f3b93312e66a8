"""What is written down of a delivery: how far it has come, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryResult
from lakehold.runs.runnable import Done, StepContext


def told_of(doing: StepContext, sent: DeliveryResult, **more: object) -> Done:
    """What was delivered, said to those who see the run and kept with its step."""
    doing.log(f"{sent.rows:,} rows delivered: {sent.said or ', '.join(sent.places)}")
    if sent.words:
        doing.log(sent.words, "info" if sent.sure else "warning")
    return Done(sent.rows, sent.size, told={"places": list(sent.places), "sure": sent.sure, **more})


@dataclass(frozen=True, slots=True)
class Noted:
    """How far a delivery has come, written down with its step."""

    doing: StepContext

    def read(self) -> DeliveryProgress | None:
        """How far it has come; None if it was never begun."""
        told: Mapping[str, Any] = self.doing.reached()
        if not told:
            return None
        return DeliveryProgress(**{**told, "refused": tuple(told["refused"])})

    def keep(self, reached: DeliveryProgress) -> None:
        """Write down how far it has come."""
        self.doing.note(asdict(reached))
