"""The page of an integration: the tables that it opens to tools, and its tokens; activate and deactivate."""

from contextlib import suppress

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext, get_platform
from lakehold.catalog import integration_reads, kinds
from lakehold.catalog.integration_reads import READS
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory import tokens
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.runs.scheduler.service import ACTIVATE, DEACTIVATE
from lakehold.web import one_time_secret, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.lakehouse import integrations

routes = router("/resources")

TEMPLATE = "lakehouse/integration.html"
_LIFETIMES = {"30": "30 days", "90": "90 days", "365": "1 year", "never": "No end"}
_DEFAULT = "90"


@routes.post("/{uid:path}/integration/token")
def make_token(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Create a token as the caller. Its secret is shown once."""
    days = str(sent.get("days", _DEFAULT))
    if days not in _LIFETIMES:
        raise InvalidInputError("Invalid expiration.", "Choose one from the list.")
    try:
        created = integrations.create_token(ctx, uid, None if days == "never" else int(days))
    except ConflictError as error:
        return pages.redirect(request, resource_header.overview_url(ctx, uid), Flash(str(error), tone="bad"))
    secret = one_time_secret.OneTimeSecret(
        f"Token of {created.token.name}",
        "Token",
        created.secret,
        "Use it in the tool. It reads the tables of the integration with your permissions.",
        created.token.until,
        resource_header.overview_url(ctx, uid),
    )
    return one_time_secret.redirect_to_secret(request, ctx.caller, secret)


@routes.post("/{uid:path}/integration/revoke")
def revoke(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Revoke a token, after a confirmation."""
    back, token_id = resource_header.overview_url(ctx, uid), str(sent.get("token", ""))
    if token_id not in {each.id for each in tokens.list_of_integration(ctx, uid)}:
        raise NotFoundError("There is no such token here.", "Reload the page.")
    said = "Tools that use it lose access immediately."
    need_confirmation(request, sent, "Revoke this token?", said, do="Revoke", back=back)
    tokens.revoke(ctx, token_id)
    return pages.redirect(request, back, Flash("The token was revoked."))


@routes.post("/{uid:path}/integration/activate")
@routes.post("/{uid:path}/integration/deactivate")
def activate(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Activate an integration, so that its tokens are accepted, or deactivate it."""
    ctx.need_visible(uid)
    schema = kinds.schema_of(ctx.view, uid)
    if schema.id != integrations.INTEGRATION_KIND:
        raise InvalidInputError(f"A {schema.title.lower()} is not an integration.", "Choose one.")
    active = request.url.path.endswith("/activate")
    integrations.set_active(ctx, uid, active=active)
    words = "Activated. Its tokens are accepted." if active else "Deactivated. Its tokens are rejected."
    flash = Flash(words, undo=urls.resource(uid, f"integration/{DEACTIVATE if active else ACTIVATE}"))
    return pages.redirect(request, resource_header.overview_url(ctx, uid), flash)


def activation_actions(ctx: RequestContext, found: ResourceView) -> list[PageAction]:
    """Return the action that activates or deactivates an integration; none for other kinds."""
    if found.kind != integrations.INTEGRATION_KIND:
        return []
    word, icon = (DEACTIVATE, "pause") if integration_reads.is_active(ctx, found.uid) else (ACTIVATE, "play")
    turn = PageAction(word.capitalize(), urls.resource(found.uid, f"integration/{word}"), "post", icon)
    return resource_header.actions_of(ctx, found.uid, {word: turn})


def integration_values(
    request: Request, ctx: RequestContext, visible: VisibleRefs, found: ResourceView
) -> dict[str, object]:
    """Return the template values of the page."""
    base, listed = get_platform(request).settings.base_url, list[tokens.ApiToken]()
    with suppress(DeniedError):  # during impersonation the member's tokens are not listed
        listed = tokens.list_of_integration(ctx, found.uid)
    return {
        "is_open": integration_reads.is_active(ctx, found.uid),
        "is_cut": len(integration_reads.readable_ends(ctx, found.uid)) < len(edge_targets(ctx, found.uid, READS)),
        "days": list(_LIFETIMES.items()),
        "default_days": _DEFAULT,
        "rows_at": lambda uid: f"{base}/api/v1/tables/{uid}/rows",
        "tokens": [(each, visible.ref(each.member)) for each in listed],
        "now": ctx.at,
    }
