"""The list of members, adding one, and service accounts with their API tokens."""

from fastapi import Request, Response

from lakehold.access.model.policy import TENANT
from lakehold.api.http.dependencies import FormContext, ReadContext, WriteContext
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory import groups, members, tokens
from lakehold.directory.act_for import MANAGE, need_act_for
from lakehold.directory.members import Member, MemberFilter
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.form_values import FieldErrors, collect_errors, parse_integer
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.one_time_secret import OneTimeSecret
from lakehold.web.people.member_actions import MemberActions
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/people")

_KINDS = (("person", "People"), ("service", "Service accounts"))
_MAX_GROUPS = 200


@routes.get("")
def people_page(request: Request, ctx: ReadContext) -> Response:
    """Show the list of members."""
    listing = ListState.from_request(request, sorts=("name", "created"), filters=_filters(ctx))
    found, total, after = _list_members(ctx, listing)
    member_actions, visible = MemberActions(ctx), VisibleRefs(ctx)
    rows = [(n, one, visible.refs(one.groups), member_actions.row_actions(one)) for n, one in enumerate(found)]
    values: dict[str, object] = {
        **listing.cursor_values(rows, after),
        "total": total,
        "keeper": member_actions,
        "add": [
            member_actions.offer(PageAction("Add member", "/people/new", icon="plus", dialog=True), MANAGE),
            member_actions.offer(
                PageAction("New service account", "/people/new-service-account", icon="sparkles", dialog=True), MANAGE
            ),
        ],
    }
    return pages.render(request, "people/people.html", values)


@routes.api_route("/new", methods=FORM_METHODS)
def add_member(request: Request, ctx: FormContext, sent: SubmittedForm) -> Response:
    """Add a member without an invite."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name, email = str(sent.get("name", "")).strip(), str(sent.get("email", "")).strip()
    errors = FieldErrors()
    if request.method == "POST" and not (errors := collect_errors(name=lambda: valid_name(name))):
        with errors.at("email", InvalidInputError, ConflictError):
            if email:
                members.refuse_invalid_email(ctx, email)
            return pages.redirect(request, urls.member(members.add(ctx, name, email=email)), f"{name} was added.")
    return pages.render_form(request, "people/new.html", {"name": name, "email": email}, errors)


def _filters(ctx: RequestContext) -> list[ListFilter]:
    roles = ctx.view.policy.kind(TENANT).schema.roles
    known = groups.page(ctx, limit=_MAX_GROUPS).items
    return [
        ListFilter("role", "Role", tuple((name, role.title) for name, role in roles.items())),
        ListFilter("group", "Group", tuple((found.uid, found.name) for found in known)),
        ListFilter("kind", "Kind", _KINDS),
    ]


def _list_members(ctx: RequestContext, listing: ListState) -> tuple[list[Member], int | None, str | None]:
    """Return the members of this page, the total if it is known, and the cursor of the next page."""
    chosen = listing.chosen
    service = {"person": False, "service": True}.get(chosen["kind"])
    member_filter = MemberFilter(listing.search, chosen["role"], chosen["group"], service)
    if member_filter.is_narrow:
        skip = (listing.page - 1) * listing.size
        some = members.filtered_page(ctx, member_filter, sort=listing.order, skip=skip, limit=listing.size)
        return some.items, some.total, None
    found = members.page(ctx, **listing.query)
    return found.items, None, found.after


_LIFETIMES = (("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("", "No end"))


@routes.api_route("/new-service-account", methods=FORM_METHODS)
def add_service_account(request: Request, ctx: FormContext, sent: SubmittedForm) -> Response:
    """Create a service account."""
    ctx.need(MANAGE, ctx.caller.tenant)
    name, errors = str(sent.get("name", "")).strip(), FieldErrors()
    if request.method == "POST":
        with errors.at("name", InvalidInputError):
            created = members.create_service_account(ctx, valid_name(name))
            return pages.redirect(request, urls.member(created), f"{name} was created. Add roles and a token next.")
    return pages.render_form(request, "people/new_service.html", {"name": name}, errors)


@routes.api_route("/{uid:path}/tokens/new", methods=FORM_METHODS)
def add_token(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Create a token and show its secret once."""
    member, errors = members.get(ctx, uid), FieldErrors()
    name, days = str(sent.get("name", "")).strip(), str(sent.get("days", ""))
    if request.method == "GET":
        need_act_for(ctx, "make tokens", uid)
        days = "90"
    else:
        with errors.at("name", InvalidInputError, ConflictError):
            lifetime = parse_integer(days) or 0 if days else None
            created = tokens.create(ctx, name, member=uid, days=lifetime)
            text = "It has all permissions of the service account. Keep it secret."
            title, until = f"Token for {member.name}", created.token.until
            secret = OneTimeSecret(title, "Token", created.secret, text, until, urls.member(uid))
            return one_time_secret.redirect_to_secret(request, ctx.caller, secret)
    values: dict[str, object] = {"member": member, "lasts": _LIFETIMES, "name": name, "days": days}
    return pages.render_form(request, "people/token.html", values, errors)


@routes.post("/{uid:path}/tokens/revoke")
def revoke_token(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke a token."""
    token = tokens.get(ctx, str(sent.get("token", "")))
    back = urls.member(uid)
    text = "Programs that use it lose access immediately."
    need_confirmation(request, sent, f"Revoke the token {token.name}?", text, do="Revoke", back=back)
    tokens.revoke(ctx, token.id)
    return pages.redirect(request, back, f"The token {token.name} was revoked.")
