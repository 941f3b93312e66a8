"""The caller's API tokens, those of service accounts for who manages members, and creating one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import FormContext, ReadContext, WriteContext
from lakehold.catalog import workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import members, tokens
from lakehold.directory.act_for import MANAGE
from lakehold.directory.members import Member
from lakehold.directory.request_context import RequestContext
from lakehold.directory.tokens import DEFAULT_DAYS, ApiToken
from lakehold.kit.clock import DAY
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name, quote, valid_name
from lakehold.web import one_time_secret, pages
from lakehold.web.confirmation import need_confirmation
from lakehold.web.form_values import FieldErrors, collect_errors, text_field
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.profile import profile_page
from lakehold.web.routing import SubmittedForm, router

routes = router(profile_page.TOKENS)

EXPIRES_SOON = 14 * DAY
"""How long before its end a token counts as expiring."""
_SORT_KEYS = {
    "name": lambda row: fold_name(row[0].name),
    "made": lambda row: row[0].made_at,
    "used": lambda row: row[0].used_at,
    "until": lambda row: row[0].until,
}
_OWNER_FILTER = ListFilter("whose", "Owner", (("mine", "Mine"), ("service", "Service accounts")))


TokenRow = tuple[ApiToken, str, list[ResourceRef] | None]
"""A token, the name of its service account (empty for one's own), and the resources that it is narrowed to."""


@routes.get("")
def tokens_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list of tokens."""
    kept = managed_service_accounts(ctx)
    sorts = ("-made", "name", "used", "until")
    listing = ListState.from_request(request, sorts=sorts, filters=(_OWNER_FILTER,) if kept else ())
    whose = listing.chosen.get("whose", "")
    found = [row for row in _token_rows(ctx, kept) if whose in {"", "service" if row[1] else "mine"}]
    rows = listing.select(found, lambda row: f"{row[0].name} {row[0].prefix} {row[1]}", _SORT_KEYS)
    values = {**listing.page_values(rows), "soon": ctx.at + EXPIRES_SOON}
    return profile_page.render_tab(request, ctx, "tokens.html", values)


@routes.post("/{token}/revoke")
def revoke_token(request: Request, ctx: WriteContext, token: str, sent: SubmittedForm) -> Response:
    """Revoke a token."""
    found = tokens.get(ctx, token)
    text = "Programs that use it lose access immediately. This cannot be undone."
    need_confirmation(request, sent, f"Revoke {found.name}?", text, do="Revoke", back=profile_page.TOKENS)
    tokens.revoke(ctx, found.id)
    return pages.redirect(request, profile_page.TOKENS, f"{found.name} was revoked.")


def managed_service_accounts(ctx: RequestContext) -> list[Member]:
    """Return the service accounts that the caller manages."""
    keeps = ctx.session.check(ctx.principal, MANAGE, ctx.caller.tenant)
    return members.list_service_accounts(ctx) if keeps and not ctx.caller.impersonator else []


def _token_rows(ctx: RequestContext, kept: list[Member]) -> list[TokenRow]:
    visible = VisibleRefs(ctx)
    found = [(token, "") for token in tokens.list_of_member(ctx, ctx.caller.member)]
    found += [(token, member.name) for member in kept for token in tokens.list_of_member(ctx, member.uid)]
    return [
        (token, service, None if token.resources is None else visible.refs(token.resources)) for token, service in found
    ]


_DAYS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "1 year", "never": "No end"}
_MAX_WORKSPACES = 50


@dataclass(frozen=True, slots=True)
class TokenForm:
    """The values of the form for a new token."""

    name: str = ""
    member: str = ""
    days: str = str(DEFAULT_DAYS)
    actions: Sequence[str] = ()
    spaces: Sequence[str] = ()
    ids: str = ""

    @classmethod
    def from_form_data(cls, sent: FormData) -> TokenForm:
        """Read the values from the submitted form."""
        return cls(
            text_field(sent, "name").strip(),
            text_field(sent, "member"),
            text_field(sent, "days"),
            [str(action) for action in sent.getlist("actions")],
            [str(uid) for uid in sent.getlist("spaces")],
            text_field(sent, "ids"),
        )

    @property
    def resources(self) -> list[str]:
        """Return all resources that the token is narrowed to, without duplicates."""
        written = [line.strip() for line in self.ids.splitlines()]
        return list(dict.fromkeys([*self.spaces, *filter(None, written)]))


@routes.get("/new")
@routes.post("")
def create_token(request: Request, ctx: FormContext, sent: SubmittedForm, resource: str = "") -> Response:
    """Show the form, with the `resource` to narrow the token to; create the token, then show its secret once."""
    form, errors = TokenForm(ids=resource), FieldErrors()
    if request.method == "POST":
        form = TokenForm.from_form_data(sent)
        errors = _form_errors(ctx, form)
    if request.method == "POST" and not errors:
        with errors.at("name", ConflictError):
            return one_time_secret.redirect_to_secret(request, ctx.caller, _create(ctx, form))
    values: dict[str, object] = {
        "token_form": form,
        "days": list(_DAYS.items()),
        "whose": [("", "Yourself"), *((member.uid, member.name) for member in managed_service_accounts(ctx))],
        "actions": sorted({"create"}.union(*(kind.schema.actions for kind in ctx.view.policy.kinds.values()))),
        "spaces": workspaces.page(ctx, limit=_MAX_WORKSPACES).items,
    }
    return profile_page.render_tab(request, ctx, "token_new.html", values, errors)


def _create(ctx: RequestContext, form: TokenForm) -> OneTimeSecret:
    created = tokens.create(
        ctx,
        form.name,
        member=form.member,
        days=None if form.days == "never" else int(form.days),
        actions=form.actions or None,
        resources=form.resources or None,
    )
    return OneTimeSecret(
        f"{created.token.name} was created",
        "Token",
        created.secret,
        "Copy it now. It is shown only once.",
        created.token.until,
        profile_page.TOKENS,
        "Send it as “Authorization: Bearer …”, or save it with “lakehold login”.",
    )


def _form_errors(ctx: RequestContext, form: TokenForm) -> FieldErrors:
    errors = collect_errors(name=lambda: valid_name(form.name))
    visible = VisibleRefs(ctx)
    unknown = [uid for uid in form.resources if not visible.sees(uid)]
    if unknown:
        errors["ids"] = f"There is no resource {quote(unknown[0])}. Check the ID."
    if form.days not in _DAYS:
        errors["days"] = "Select an option."
    return errors
