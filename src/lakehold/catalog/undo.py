"""Undo of changes of grants and group memberships: when they held before, kept in a URL, and held again."""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from lakehold.access import Add, Edge, Grant, Remove
from lakehold.access.facts import tables
from lakehold.access.facts.store import Period
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import InvalidInputError

HeldPeriods = Mapping[Grant | Edge, Sequence[Period]]
_TEXT: TypeAdapter[list[tuple[Grant | Edge, list[Period]]]] = TypeAdapter(list[tuple[Grant | Edge, list[Period]]])


class TimedChange(NamedTuple):
    """A change, and the period that it is about."""

    change: Add | Remove
    since: Moment
    until: Moment = FOREVER


def held_periods(ctx: RequestContext, *facts: Grant | Edge) -> HeldPeriods:
    """Return when the facts hold from now on, and the grants to others that they replace where there is one holder."""
    found = list(facts)
    for fact in facts:
        if isinstance(fact, Grant):
            here = ctx.view.resource(fact.resource)
            if ctx.view.policy.role(ctx.view.kind(here), fact.role).single:
                spans = tables.grants_on(ctx.session.transaction, ctx.session.tenant, here, ctx.at)
                others = (ctx.view.uid(span.subject) for span in spans if span.role == fact.role)
                found += [Grant(other, fact.role, fact.resource) for other in others]
    return {fact: ctx.session.store.periods(fact) for fact in found}


def plan(ctx: RequestContext, before: HeldPeriods) -> list[TimedChange]:
    """Return the changes after which all holds as it did before, from now on."""
    ended: list[TimedChange] = []
    begun: list[TimedChange] = []
    for fact, periods in before.items():
        now = ctx.session.store.periods(fact)
        then = [(max(since, ctx.at), until) for since, until in periods if until > ctx.at]
        moments = zip_longest(chain.from_iterable(now), chain.from_iterable(then), fillvalue=FOREVER)
        differ = next((min(pair) for pair in moments if pair[0] != pair[1]), FOREVER)
        if any(until > differ for _, until in now):
            ended.append(TimedChange(Remove(fact), differ))
        begun += [TimedChange(Add(fact), since, until) for since, until in then if until > differ]
    return [*ended, *begun]


def restore(ctx: RequestContext, before: HeldPeriods) -> None:
    """Let all hold as it did before, if the caller may change it."""
    for fact in before:
        # Asked about all, so that a refusal does not tell whether it holds already.
        ctx.need_change(Add(fact))
    changes = plan(ctx, before)
    for each in changes:
        ctx.need_change(each.change)
    for change, since, until in changes:
        ctx.make_unchecked(change, since=since, until=until)


def dump(before: HeldPeriods) -> str:
    """Return the text that `parse` reads."""
    return _TEXT.dump_json([(fact, list(periods)) for fact, periods in before.items()]).decode()


def parse(text: str) -> HeldPeriods:
    """Parse the text of what held before."""
    try:
        return dict(_TEXT.validate_json(text))
    except ValidationError:
        raise InvalidInputError("This undo is not complete.", "Use the button of the message.") from None
