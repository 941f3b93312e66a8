"""Why, and what would change it."""

from __future__ import annotations

from pydantic import Field

from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import Reason, RulePath, describe_fact
from lakehold.access.decisions.ways import MissingFact, Way
from lakehold.api.access.asking import Asking, Named
from lakehold.api.access.checks import Subject
from lakehold.api.access.facts import FactJson, told
from lakehold.api.frame.models import Answer, Body, IdText, Time, Word
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading

routes = router("/api/v1/access/explain", "Access")


class Why(Body):
    """Why may this member do this, or not?"""

    subject: Subject = None
    action: Word
    resource: IdText
    at: Time | None = Field(default=None, examples=[None])


class ReasonJson(Answer):
    """A part of a path: what was asked, whether it held, and by which facts."""

    text: str = Field(examples=["Editor on table orders"])
    held: bool
    facts: list[FactJson] = Field(examples=[[]])
    parts: list[ReasonJson] = Field(examples=[[]])


class PathJson(Answer):
    """A line of the model that could allow it."""

    rule: str = Field(examples=["editor"])
    place: str = Field(examples=["lakehouse/model.yaml:54"], description="Where the line stands in its model.")
    held: bool
    reason: ReasonJson


class NeededJson(Answer):
    """A fact to add, and who may add it."""

    fact: FactJson
    text: str = Field(examples=["Editor on table orders for member Ana"])
    givers: list[Named]
    more_givers: int


class WayJson(Answer):
    """Facts that together make the answer yes."""

    needed: list[NeededJson]


class ExplanationJson(Answer):
    """Why somebody may or may not do something."""

    allowed: bool
    subject: IdText
    action: Word
    resource: IdText
    paths: list[PathJson] = Field(description="For a yes every line that held; for a no all that speak of the action.")
    gates: list[PathJson] = Field(description="What every path has to pass.")
    ways: list[WayJson] = Field(description="For a no what would have to be added, fewest facts first.")
    hidden_ways: bool = Field(description="Whether there are ways that would name what the caller may not see.")


@routes.post("")
def explain(ctx: Reading, body: Why) -> ExplanationJson:
    """Why may they do this, or why not?

    What the caller may not see is never named.
    """
    asking = Asking(ctx, body.at)
    asker = asking.subject(body.subject)
    asking.see((body.resource,))
    found = asking.at.explain(asker, body.action, body.resource, viewer=ctx.asker)
    return asking.at.read_view(lambda _: _told(asking, found))


def _told(asking: Asking, found: Explanation) -> ExplanationJson:
    return ExplanationJson(
        allowed=found.allowed,
        subject=found.member,
        action=found.action,
        resource=found.resource,
        paths=[_path(path) for path in found.paths],
        gates=[_path(path) for path in found.gates],
        ways=[_way(asking, way) for way in found.ways],
        hidden_ways=found.hidden_ways,
    )


def _path(path: RulePath) -> PathJson:
    return PathJson(rule=path.rule, place=path.place, held=path.held, reason=_reason(path.reason))


def _reason(reason: Reason) -> ReasonJson:
    return ReasonJson(
        text=reason.text,
        held=reason.held,
        facts=[told(fact) for fact in reason.facts],
        parts=[_reason(part) for part in reason.parts],
    )


def _way(asking: Asking, way: Way) -> WayJson:
    return WayJson(needed=[_needed(asking, needed) for needed in way.needed])


def _needed(asking: Asking, needed: MissingFact) -> NeededJson:
    visible = [giver for giver in needed.givers if asking.sees(giver)]
    return NeededJson(
        fact=told(needed.fact),
        text=describe_fact(asking.at.current_view(), needed.fact),
        givers=[asking.named(giver) for giver in visible],
        more_givers=needed.more_givers if len(visible) == len(needed.givers) else 0,
    )
