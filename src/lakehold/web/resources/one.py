"""The page of one resource."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.facts.view import View
from lakehold.access.model.schema import Kind
from lakehold.api.catalog import using
from lakehold.api.frame.works import House, Reading
from lakehold.catalog import kinds, resources, usage
from lakehold.catalog.shapes import Eyes, Ref, Resource
from lakehold.directory.work import Work
from lakehold.web import addresses, pages, views
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.routes import router
from lakehold.web.words import spoken

routes = router("/resources")

_MOST_INSIDE = 50
_MOST_USES = 8


@routes.get("/{uid:path}")
def resource_page(request: Request, work: Reading, house: House, uid: str) -> Response:
    """A resource, as the caller may see it."""
    found = resources.get(work, uid)
    schema = kinds.kept_here(work.view.policy, found.kind)
    if found.workspace and found.workspace.uid == uid:
        return pages.go(request, addresses.workspace(uid))
    if own := views.home(uid, found.kind):
        return pages.go(request, own)
    using.note(house, work, schema.visible, uid)
    values: dict[str, object] = {
        "crumbs": acting.crumbs(work, uid),
        "found": found,
        "tabs": acting.tabs(work, uid),
        "deleted": found.attributes.get(kinds.DELETED) == "true",
        "menu": _menu(work, found, schema),
        "may": acting.actions_of(work, uid),
        "attributes": [(spoken(name), _told(schema, name, value)) for name, value in _shown(found).items()],
        "owners": [(schema.roles[role].title, held) for role, held in found.owners.items()],
        "edges": [(spoken(name), ends) for name, ends in found.edges.items() if ends],
        "inside": work.session.asking(lambda view: _inside(work, view, uid)),
        "pointing": work.session.asking(lambda view: _pointing(work, view, uid)),
        "uses": usage.of_resource(work, uid)[:_MOST_USES],
    }
    return pages.page(request, "resources/one.html", values)


def _shown(found: Resource) -> dict[str, str]:
    return {name: value for name, value in found.attributes.items() if name != kinds.DELETED}


def _told(schema: Kind, name: str, value: str) -> str:
    attribute = schema.attributes.get(name)
    if attribute is not None and attribute.is_flag:
        return "On" if value == "true" else "Off"
    return spoken(value)


def _menu(work: Work, found: Resource, schema: Kind) -> list[Action]:
    """What can be done with the resource itself, whatever its model."""
    uid, here, ask = found.uid, addresses.resource, work.session.asking
    edit = Action("Edit", here(uid, "edit"), icon="pencil")
    move = Action("Move", here(uid, "move"), icon="folder")
    delete = Action("Delete", here(uid, "delete"), "post", "trash-2", danger=True, confirm=f"Delete {found.name}?")
    movable = schema.parent is not None and schema.edges[schema.parent].set_with is not None
    return [
        acting.if_right(work, ask(lambda view: kinds.editing(view, uid)), edit),
        *([move] if movable else []),
        acting.if_right(work, ask(lambda view: kinds.deleting(view, uid)), delete),
    ]


def _inside(work: Work, view: View, uid: str) -> list[Ref]:
    """What lies in it, of what the caller may see."""
    return _seen(work, view, view.inside(view.resource(uid)))


def _pointing(work: Work, view: View, uid: str) -> list[tuple[str, list[Ref]]]:
    """What points at it and does not lie in it, by the kind."""
    here, found = view.resource(uid), []
    for kind in view.policy.kinds.values():
        for edge in kind.schema.edges:
            if edge == kind.schema.parent or kind.schema.model == "tenant":
                continue
            near = [each for each in view.back[edge].get(here) or () if view.kind(each) == kind.id]
            if near and (seen := _seen(work, view, near)):
                found.append((kind.schema.title, seen))
    return found


def _seen(work: Work, view: View, numbers: list[int]) -> list[Ref]:
    eyes, found = Eyes(work), []
    for number in sorted(numbers, key=lambda number: (view.names.get(number) or "").casefold()):
        ref = eyes.numbered(number)
        if ref is not None:
            found.append(ref)
        if len(found) == _MOST_INSIDE:
            break
    return found
