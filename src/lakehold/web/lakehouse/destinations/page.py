"""What is told of a destination on its own page: where it sends to, without its secret, and its last deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakehold.catalog import credentials
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.runs.service import Run, StepState
from lakehold.web import urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.connections import delivery_form
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.destinations import delivery
from lakehold.web.lakehouse.destinations.delivery import Delivery
from lakehold.web.lakehouse.doing import RUNS
from lakehold.workspaces.lakehouse.connection_access import DESTINATION_KIND

__all__ = ["DESTINATION_KIND", "TEMPLATE", "about"]

TEMPLATE = "lakehouse/destination.html"
_MOST = 8


@dataclass(frozen=True, slots=True)
class Delivered:
    """One table in one run."""

    run: str
    step: StepState
    size: str


def about(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView, runs: Sequence[Run]) -> dict[str, object]:
    """For the page."""
    here = urls.resource
    change = PageAction("Edit", here(found.uid, "delivery"), icon="pencil")
    trial = PageAction("Test", here(found.uid, "delivery/try"), "post", "zap")
    is_set = found.settings is None or bool(found.settings.get("to"))
    return {
        "where": None if found.settings is None else _where(ctx, eyes, found),
        "is_set": is_set,
        "change": resource_header.actions_of(ctx, found.uid, {"edit": change})[0],
        "trial": resource_header.actions_of(ctx, found.uid, {"edit": trial})[0],
        "deliveries": _deliveries(ctx, runs),
    }


def _where(ctx: RequestContext, eyes: VisibleRefs, found: ResourceView) -> list[tuple[str, str]]:
    filled = delivery.present(found)
    if not filled.to:
        return []
    secret = [(name.capitalize(), "Kept, and not shown") for name in credentials.list_names(ctx, found.uid)]
    return [("As", delivery_form.DELIVERY_LABELS[filled.to]), *_place(eyes, found, filled), *secret]


def _place(eyes: VisibleRefs, found: ResourceView, filled: Delivery) -> delivery_form.LabelledValues:
    volume = eyes.ref(filled.volume)
    return delivery_form.describe_target(
        filled, found.settings or {}, volume=volume.name if volume else "None that you can see"
    )


def _deliveries(ctx: RequestContext, runs: Sequence[Run]) -> list[Delivered]:
    steps = [(run.id, step) for run in runs for step in RUNS.get(ctx, run.id).steps]
    return [Delivered(run, step, saying.size(step.size)) for run, step in steps[:_MOST]]
