"""Data marts: published or a draft, and how their checks came out."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from lakehold.api.frame.models import Answer, IdText, Time, time_of
from lakehold.api.frame.routes import problems, router
from lakehold.api.frame.works import Reading, Writing
from lakehold.api.iceberg.catalog import InLake
from lakehold.workspaces.marts import publishing, quality

routes = router("/api/v1/marts", "Data marts")

_MOST = 1_000


class CheckOutcome(Answer):
    """How a check came out."""

    name: str = Field(examples=["unique id"])
    state: str = Field(examples=["kept"], description="kept, broken, or unknown if it could not be looked at.")
    said: str = Field(examples=["as it should be"])
    at: Time


class CheckOutcomes(Answer):
    """The newest first."""

    items: list[CheckOutcome]


@routes.get("/{mart}/checks")
def list_check_outcomes(
    work: Reading, mart: IdText, limit: Annotated[int, Query(ge=1, le=_MOST)] = 200
) -> CheckOutcomes:
    """How the checks of a data mart have come out, for those who see it."""
    found = quality.page(work, mart, limit=limit)
    return CheckOutcomes(
        items=[CheckOutcome(name=each.name, state=each.state, said=each.said, at=time_of(each.at)) for each in found]
    )


@routes.post("/{mart}/publish", status_code=204, responses=problems(409))
def publish_mart(work: Writing, lake: InLake, mart: IdText) -> None:
    """Let a data mart be reported on."""
    publishing.publish(work, lake, mart)


@routes.post("/{mart}/unpublish", status_code=204)
def unpublish_mart(work: Writing, mart: IdText) -> None:
    """Make a draft of a data mart again."""
    publishing.unpublish(work, mart)
