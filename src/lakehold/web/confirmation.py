"""Confirmation pages: a plain question, or a preview of what a change of access does.

They work with and without scripts, because the endpoint itself asks::

    need_confirmation(request, form, "Remove Erik from Engineers?", "He loses Editor on 12 tables.", do="Remove")

    prompt = ConfirmationPrompt("Grant Editor to Ana?")
    need_confirmed_effects(request, form, prompt, lambda: preview_effects(ctx, changes))
    …  # confirmed: make the change
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Add, Remove
from lakehold.access.decisions.what_if import AccessEffectGroup, AccessEffects
from lakehold.access.facts.records import Fact
from lakehold.access.model.policy import Policy
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, request_table
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.web import csrf, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import EffectSummary, FieldChange
from lakehold.web.labels import format_count, humanize
from lakehold.web.list_view import ListState
from lakehold.web.pages import UnconfirmedError
from lakehold.web.routing import router

CONFIRMED = "confirmed"
_MAX_NAMED = 4
_PAGE_SIZE = 50
_MAX_URL_LENGTH = 6_000

routes = router()


def need_confirmation(
    request: Request, form: FormData, question: str, text: str = "", *, do: str = "Continue", back: str = "/"
) -> None:
    """Answer with a confirmation page, unless the question is confirmed."""
    if not form.get(CONFIRMED):
        values: dict[str, object] = {"question": question, "text": text, "do": do, "back": back}
        raise UnconfirmedError(pages.render(request, "confirm.html", values | {"fields": repeated_fields(form)}))


def repeated_fields(form: FormData) -> list[tuple[str, str]]:
    """Return the fields that the confirmation sends again."""
    return [(name, value) for name, value in form.multi_items() if isinstance(value, str) and name != csrf.FIELD]


@dataclass(frozen=True, slots=True)
class ConfirmationChoice:
    """An additional choice on the confirmation page."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ConfirmationPrompt:
    """The texts and options of a confirmation page."""

    question: str
    text: str = ""
    do: str = "Save"
    danger: bool = False
    changes: Sequence[FieldChange] = ()
    """What else is to be different, field by field."""
    choice: ConfirmationChoice | None = None
    """Something to be chosen along with it."""


Changes = Sequence[Add | Remove]


def preview_effects(ctx: RequestContext, changes: Changes, on: str = "") -> list[EffectSummary]:
    """Return the visible effects of changes, all of which the caller must be allowed to make.

    With the resource that they are `on`, each is linked to the page with its rows.
    """
    for change in changes:
        ctx.need_change(change)
    found = summarize_effects(ctx.view.policy, change_preview.preview(ctx, changes)) if changes else []
    href = _effects_url(on, changes) if on else ""
    return [replace(effect, href=href) for effect in found]


def _effects_url(uid: str, changes: Changes) -> str:
    """Return the URL of the page with the rows of the effects; empty if the changes are too long for a URL."""
    added = request_table.dump_facts([change.fact for change in changes if isinstance(change, Add)])
    removed = request_table.dump_facts([change.fact for change in changes if isinstance(change, Remove)])
    query = urlencode({"add": added, "remove": removed})
    return f"{urls.resource(uid, 'access/effects')}?{query}" if len(query) < _MAX_URL_LENGTH else ""


def summarize_effects(policy: Policy, effects: AccessEffects) -> list[EffectSummary]:
    """Summarize effects in the terms of the models, actions with the same numbers of members and resources as one."""
    merged: dict[tuple[bool, str, int, int], list[AccessEffectGroup]] = {}
    for group in effects.groups:
        merged.setdefault((group.gained, group.kind, group.members, group.resources), []).append(group)
    return [
        EffectSummary(gained, members, _describe_actions(policy, kind, groups), resources, _kind_label(policy, kind))
        for (gained, kind, members, resources), groups in merged.items()
    ]


def need_confirmed_effects(
    request: Request, form: FormData, prompt: ConfirmationPrompt, effects: Callable[[], Sequence[EffectSummary]]
) -> None:
    """Answer with a page that previews the effects of a change, unless the change is confirmed.

    The way back leads to the page of the form, which is filled in again: see `form_drafts`.
    """
    if not form.get(CONFIRMED):
        token = csrf.sent_token(request)
        values: dict[str, object] = {
            "asking": prompt,
            "effects": effects(),
            "fields": repeated_fields(form),
            "back": token.page if token else "/",
        }
        raise UnconfirmedError(pages.render(request, "effects.html", values))


@routes.get("/resources/{uid:path}/access/effects")
def effects_page(request: Request, ctx: ReadContext, uid: str, add: str = "[]", remove: str = "[]") -> Response:
    """Render the list of who would gain and lose what."""
    ctx.need_visible(uid)
    listing = ListState.from_request(request, ("name",), size=_PAGE_SIZE)
    changes: list[Add | Remove] = [Remove(fact) for fact in _parse_facts(remove)]
    changes += [Add(fact) for fact in _parse_facts(add)]
    found, visible, start = change_preview.preview(ctx, changes), VisibleRefs(ctx), (listing.page - 1) * _PAGE_SIZE
    rows = [
        (visible.ref(row.member), row, visible.ref(row.resource))
        for row in islice(found.rows(), start, start + _PAGE_SIZE)
    ]
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Effect on access"),
        "listing": listing,
        "kept": {"add": add, "remove": remove},
        "rows": [row for row in rows if row[0] and row[2]],
        "total": sum(group.pairs for group in found.groups),
    }
    return pages.render(request, "access/effects.html", values)


def _parse_facts(text: str) -> list[Fact]:
    try:
        return request_table.load_facts(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidInputError("This link is incomplete.", "Go back, and follow the link again.") from None


def _kind_label(policy: Policy, kind: str) -> str:
    """Return the title of a kind, with its model's title where another model uses the same word."""
    schema = policy.kind(kind).schema
    alike = [other for other in policy.kinds.values() if other.schema.title == schema.title]
    return schema.title.lower() if len(alike) == 1 else f"{policy.models[schema.model].title} {schema.title.lower()}"


def _describe_actions(policy: Policy, kind: str, groups: Sequence[AccessEffectGroup]) -> str:
    known = policy.kind(kind).schema.actions
    if len(groups) == len(known) > 1:
        return "everything"
    words = [humanize(group.action) if n == 0 else humanize(group.action).lower() for n, group in enumerate(groups)]
    if len(words) > _MAX_NAMED + 1:
        words = [*words[:_MAX_NAMED], format_count(len(words) - _MAX_NAMED, "more action")]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
