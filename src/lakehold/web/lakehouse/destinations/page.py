"""What is told of a destination on its own page: where it sends to, without its secret, and its last deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.catalog import credentials
from lakehold.catalog.shapes import Eyes, Resource
from lakehold.directory.work import Work
from lakehold.runs.runs import Run, StepState
from lakehold.web import addresses
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.deliveries import telling, ways
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.destinations import delivery
from lakehold.web.lakehouse.destinations.delivery import Delivery
from lakehold.web.lakehouse.doing import RUNS
from lakehold.workspaces.lakehouse.destinations import KIND

__all__ = ["KIND", "TEMPLATE", "about"]

TEMPLATE = "lakehouse/destination.html"
_MOST = 8


@dataclass(frozen=True, slots=True)
class Delivered:
    """One table in one run."""

    run: str
    step: StepState
    size: str


def about(work: Work, eyes: Eyes, found: Resource, runs: Sequence[Run]) -> dict[str, object]:
    """For the page."""
    here = addresses.resource
    change = Action("Edit", here(found.uid, "delivery"), icon="pencil")
    trial = Action("Test", here(found.uid, "delivery/try"), "post", "zap")
    is_set = found.settings is None or bool(found.settings.get("to"))
    return {
        "where": None if found.settings is None else _where(work, eyes, found),
        "is_set": is_set,
        "change": acting.actions_of(work, found.uid, {"edit": change})[0],
        "trial": acting.actions_of(work, found.uid, {"edit": trial})[0],
        "deliveries": _deliveries(work, runs),
    }


def _where(work: Work, eyes: Eyes, found: Resource) -> list[tuple[str, str]]:
    filled = delivery.present(found)
    if not filled.to:
        return []
    secret = [(name.capitalize(), "Kept, and not shown") for name in credentials.names(work, found.uid)]
    return [("As", ways.LABELS[filled.to]), *_place(eyes, found, filled), *secret]


def _place(eyes: Eyes, found: Resource, filled: Delivery) -> telling.Facts:
    volume = eyes.ref(filled.volume)
    return telling.place(filled, found.settings or {}, volume=volume.name if volume else "None that you can see")


def _deliveries(work: Work, runs: Sequence[Run]) -> list[Delivered]:
    steps = [(run.id, step) for run in runs for step in RUNS.get(work, run.id).steps]
    return [Delivered(run, step, saying.size(step.size)) for run, step in steps[:_MOST]]
