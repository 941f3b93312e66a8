"""The members and groups of a data space with their roles as one matrix of check boxes.

A form says of every box on its page whether it was ticked when the page was made, so that it changes what its user
changed and nothing else, whoever else changes roles at the same time.
"""

from dataclasses import replace

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import change_preview, kinds, undo, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import grant_forms, resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmed_effects, preview_effects
from lakehold.web.cookies import Flash
from lakehold.web.labels import format_count
from lakehold.web.list_view import ListState
from lakehold.web.people import member_picker
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.spaces.pages import role_matrix
from lakehold.workspaces.spaces.pages.home import is_personal
from lakehold.workspaces.spaces.pages.role_matrix import OWNER
from lakehold.workspaces.spaces.settings import SPACE_KIND

routes = router("/workspaces")


@routes.get("/{uid:path}/roles")
def roles_page(request: Request, ctx: ReadContext, uid: str, add: str = "", find: str = "") -> Response:
    """Render the matrix; with `add`, a row more for somebody who has no role yet."""
    space = workspaces.need_workspace(ctx, uid, SPACE_KIND)
    listing = replace(ListState.from_request(request, ("name",)), path=urls.workspace(uid, "roles"))
    personal, gives = is_personal(ctx, uid), _givable(ctx, uid)
    found = role_matrix.load_rows(ctx, uid)
    added = VisibleRefs(ctx).ref(add) if gives else None
    if added and added.uid not in {row.subject.uid for row in found}:
        found.insert(0, role_matrix.build_row(ctx, uid, added, {}))
    rows = listing.select(found, lambda row: row.subject.name)
    rows.sort(key=lambda row: row.subject != added)
    inside = {row.subject.uid for row in found}
    owner = next((row.subject for row in found for cell in row.cells if cell.role == OWNER and cell.held), None)
    values: dict[str, object] = {
        **kind_pages.workspace_tab_values(uid, space.kind, "roles"),
        "space": space,
        **listing.page_values(rows),
        "roles": list(kinds.schema_of(ctx.view, uid).roles.values()),
        "gives": gives,
        "personal": personal,
        "sees_all": bool(gives) or change_preview.may_ask_about_others(ctx),
        "picked": member_picker.principal_choices(ctx, find, but=inside) if gives else None,
        "added": added,
        "change_owner": _change_owner(ctx, uid, owner),
        "request": urls.request(uid, "manage_members"),
    }
    return pages.render(request, "spaces/roles.html", values)


def _givable(ctx: RequestContext, uid: str) -> frozenset[str]:
    """Return the roles that the caller gives; the owner is not changed here."""
    roles = kinds.schema_of(ctx.view, uid).roles
    return frozenset(
        name
        for name, role in roles.items()
        if not role.single and ctx.session.check(ctx.principal, "give", uid, role=name)
    )


def _change_owner(ctx: RequestContext, uid: str, owner: ResourceRef | None) -> PageAction:
    part = f"access/transfer?role={OWNER}&from={urls.segment(owner.uid)}" if owner else "access/give"
    return resource_header.actions_of(
        ctx, uid, {"change_owner": PageAction("Change owner", urls.resource(uid, part), icon="key-round")}
    )[0]


@routes.post("/{uid:path}/roles")
def save_roles(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Give and take the roles that were ticked and unticked, after their effects are confirmed."""
    workspaces.need_workspace(ctx, uid, SPACE_KIND)
    here = urls.workspace(uid, "roles")
    changes = role_matrix.parse_changes(ctx, uid, sent)
    if not changes:
        return pages.redirect(request, here, Flash("Nothing was changed.", tone="warn"))
    for each in changes:
        ctx.need_change(each.change)
    prompt = ConfirmationPrompt("Change roles?", changes=role_matrix.describe_changes(ctx, uid, changes))
    need_confirmed_effects(request, sent, prompt, lambda: preview_effects(ctx, [each.change for each in changes], uid))
    before = undo.held_periods(ctx, *(each.grant for each in changes))
    for each in changes:
        ctx.make_unchecked(each.change)
    people = len({each.grant.subject for each in changes})
    undone = grant_forms.undo_url(ctx, here, before)
    flash = Flash(
        f"The roles of {format_count(people, 'member or group', 'members and groups')} were saved.", undo=undone
    )
    return pages.redirect(request, here if ctx.session.can_see(ctx.principal, uid) else "/", flash)


@routes.post("/{uid:path}/roles/undo")
def undo_roles(request: Request, ctx: WriteContext, uid: str, before: str = "") -> Response:
    """Restore the roles as they were before a change."""
    workspaces.need_workspace(ctx, uid, SPACE_KIND)
    undo.restore(ctx, undo.parse(before))
    return pages.redirect(request, urls.workspace(uid, "roles"), "Undone.")
