"""What a change of access would do, shown before it is made.

A form that changes access asks first, whatever the browser can do::

    if question := ask_first(request, sent, Asking("Give Editor to Ana?", back=there), lambda: preview(work, changes)):
        return question
    …  # it was confirmed: make the change
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Remove
from lakehold.access.decisions.what_if import AccessEffectGroup, AccessEffects
from lakehold.access.model.policy import Policy
from lakehold.catalog import change_preview
from lakehold.directory.request_context import RequestContext
from lakehold.web import csrf, pages
from lakehold.web.confirming import CONFIRMED
from lakehold.web.diffs import Change, Effect
from lakehold.web.words import counted, spoken

_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, asked on the same page."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """How it is asked."""

    question: str
    text: str = ""
    do: str = "Save"
    back: str = "/"
    """Where the form is, with what was filled in."""
    danger: bool = False
    changes: Sequence[Change] = ()
    """What else is to be different, field by field."""
    choice: Choice | None = None
    """Something to be chosen along with it."""


def preview(ctx: RequestContext, changes: Sequence[Add | Remove]) -> list[Effect]:
    """What changes would do, as far as the caller may know; refused unless they may make them, all of them."""
    for change in changes:
        ctx.need_change(change)
    return told(ctx.view.policy, change_preview.preview(ctx, changes)) if changes else []


def told(policy: Policy, effects: AccessEffects) -> list[Effect]:
    """The effects in the models' own words. Actions that the same number of members win on the same number of
    things are told together.
    """
    together: dict[tuple[bool, str, int, int], list[AccessEffectGroup]] = {}
    for group in effects.groups:
        together.setdefault((group.gained, group.kind, group.members, group.resources), []).append(group)
    return [
        Effect(gained, members, _actions(policy, kind, groups), resources, _kind(policy, kind))
        for (gained, kind, members, resources), groups in together.items()
    ]


def ask_first(
    request: Request, sent: FormData, asking: Asking, effects: Callable[[], Sequence[Effect]]
) -> Response | None:
    """The page that shows what would happen, with Save and Back; None once it was confirmed."""
    if sent.get(CONFIRMED):
        return None
    fields = [(name, value) for name, value in sent.multi_items() if isinstance(value, str) and name != csrf.FIELD]
    values: dict[str, object] = {"asking": asking, "effects": effects(), "fields": fields}
    return pages.page(request, "effects.html", values)


def _kind(policy: Policy, kind: str) -> str:
    """`table`; `Marts project` where another model has projects too."""
    schema = policy.kind(kind).schema
    alike = [other for other in policy.kinds.values() if other.schema.title == schema.title]
    return schema.title.lower() if len(alike) == 1 else f"{policy.models[schema.model].title} {schema.title.lower()}"


def _actions(policy: Policy, kind: str, groups: Sequence[AccessEffectGroup]) -> str:
    known = policy.kind(kind).schema.actions
    if len(groups) == len(known) > 1:
        return "everything"
    words = [spoken(group.action) if n == 0 else spoken(group.action).lower() for n, group in enumerate(groups)]
    if len(words) > _MOST_NAMED + 1:
        words = [*words[:_MOST_NAMED], counted(len(words) - _MOST_NAMED, "more action")]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
