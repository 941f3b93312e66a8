"""A new API token: what it is called, how long it lasts, and what it is narrowed to. Its secret is shown once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import workspaces
from lakehold.catalog.resource_view import ResourceSummary, VisibleRefs
from lakehold.directory import tokens
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tokens import DEFAULT_DAYS
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import quote, valid_name
from lakehold.web import one_time_secret
from lakehold.web.entrance.faults import Faults, faults, text
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.profile import own
from lakehold.web.profile.tokens import kept_by
from lakehold.web.routing import SubmittedForm, router

routes = router(own.TOKENS)

_DAYS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "1 year", "never": "No end"}
_MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """A form as it was filled in."""

    name: str = ""
    member: str = ""
    days: str = str(DEFAULT_DAYS)
    actions: Sequence[str] = ()
    spaces: Sequence[str] = ()
    ids: str = ""

    @classmethod
    def of(cls, sent: FormData) -> Wanted:
        """What was sent."""
        return cls(
            text(sent, "name").strip(),
            text(sent, "member"),
            text(sent, "days"),
            [str(action) for action in sent.getlist("actions")],
            [str(uid) for uid in sent.getlist("spaces")],
            text(sent, "ids"),
        )

    @property
    def resources(self) -> list[str]:
        """All that it is narrowed to, each once."""
        written = [line.strip() for line in self.ids.splitlines()]
        return list(dict.fromkeys([*self.spaces, *filter(None, written)]))


@routes.get("/new")
def new_token_page(request: Request, ctx: ReadContext, resource: str = "") -> Response:
    """The form; `resource` is what it may be narrowed to."""
    return _form(request, ctx, Wanted(ids=resource))


@routes.post("")
def make_token(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Make it, and go where its secret is shown: once, and never again."""
    wanted = Wanted.of(sent)
    if wrong := _faults(ctx, wanted):
        return _form(request, ctx, wanted, wrong)
    try:
        made = tokens.create(
            ctx,
            wanted.name,
            member=wanted.member,
            days=None if wanted.days == "never" else int(wanted.days),
            actions=wanted.actions or None,
            resources=wanted.resources or None,
        )
    except ConflictError as error:
        return _form(request, ctx, wanted, {"name": f"{error.message} {error.hint}"})
    told = OneTimeSecret(
        f"{made.token.name} is made",
        "Token",
        made.secret,
        "Copy it now. It is kept as a hash, and nobody can look it up again.",
        made.token.until,
        own.TOKENS,
        "Send it as “Authorization: Bearer …”, or keep it with “lakehold login”.",
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, told)


def _faults(ctx: RequestContext, wanted: Wanted) -> Faults:
    found = faults(name=lambda: valid_name(wanted.name))
    eyes = VisibleRefs(ctx)
    unknown = [uid for uid in wanted.resources if not eyes.sees(uid)]
    if unknown:
        found["ids"] = f"There is no resource {quote(unknown[0])}. Look the id up in a list."
    if wanted.days not in _DAYS:
        found["days"] = "Choose one of these."
    return found


def _form(request: Request, ctx: RequestContext, wanted: Wanted, wrong: Faults | None = None) -> Response:
    values: dict[str, object] = {
        "wanted": wanted,
        "faults": wrong or {},
        "days": list(_DAYS.items()),
        "whose": _whose(kept_by(ctx)),
        "actions": _actions(ctx),
        "spaces": _spaces(ctx),
    }
    return own.page(request, ctx, "token_new.html", values, at=own.TOKENS, status=422 if wrong else 200)


def _whose(kept: list[Member]) -> list[tuple[str, str]]:
    return [("", "Yourself"), *((member.uid, member.name) for member in kept)] if kept else []


def _actions(ctx: RequestContext) -> list[str]:
    known = {action for kind in ctx.view.policy.kinds.values() for action in kind.schema.actions}
    return sorted(known | {"create"})


def _spaces(ctx: RequestContext) -> list[ResourceSummary]:
    return workspaces.page(ctx, limit=_MOST_SHOWN).items
