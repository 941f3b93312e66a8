"""All workspaces that one sees, and making a new one."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.facts.view import FactView, role_names
from lakehold.access.model.schema import AccessModel, KindSchema
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import addresses, pages
from lakehold.web.actions import Action
from lakehold.web.flashes import Flash
from lakehold.web.listing import Column, Filter, Listing
from lakehold.web.routes import Sent, router
from lakehold.web.through import through
from lakehold.web.words import spoken
from lakehold.web.workspaces import words

routes = router("/workspaces")

_COLUMNS = (
    Column("Workspace", "name"),
    Column("Kind"),
    Column("Your roles", wide=True),
    Column("Made", "created", wide=True),
)
SWITCH = "switch_"


@dataclass(frozen=True, slots=True)
class Choice:
    """A model to choose."""

    model: AccessModel
    title: str
    line: str
    may: bool

    @property
    def root(self) -> KindSchema:
        """What one of it is."""
        return self.model.kinds[self.model.root]


@routes.get("")
def workspaces_page(request: Request, ctx: ReadContext) -> Response:
    """The list."""
    models = [ctx.view.policy.models[root.model] for root in kinds.workspace_kinds(ctx.view.policy)]
    by_model = Filter("model", "Kind", tuple((model.name, words.title_of(model)) for model in models))
    listing = Listing.of(request, sorts=("name", "created"), filters=(by_model,))
    found = workspaces.page(
        ctx,
        model=listing.chosen["model"] or None,
        search=listing.search,
        sort=f"-{listing.sort}" if listing.descending else listing.sort,
        after=listing.after or None,
        limit=listing.size,
    )
    values: dict[str, object] = {
        "listing": listing,
        "columns": _COLUMNS,
        "rows": [
            (n, each, own_roles(ctx, each.uid), _through(ctx, each), _actions(each))
            for n, each in enumerate(found.items)
        ],
        "after": found.after or "",
        "may_create": any(choice.may for choice in choices(ctx)),
        "new": _new_action(ctx),
    }
    return pages.page(request, "workspaces/workspaces.html", values)


@routes.get("/new")
def new_form(request: Request, ctx: ReadContext) -> Response:
    """Which model first, then what it is called."""
    chosen = _chosen(ctx, request.query_params.get("model", ""))
    if chosen is None:
        return pages.page(request, "workspaces/choose.html", {"choices": choices(ctx), "request": _asked(ctx)})
    return _form(request, chosen, {"name": "", "description": ""})


@routes.post("/new")
def make(request: Request, ctx: WriteContext, sent: Sent) -> Response:
    """Make it."""
    chosen = _chosen(ctx, str(sent.get("model", "")))
    if chosen is None:
        return pages.go(request, "/workspaces/new")
    filled = {name: str(sent.get(name, "")).strip() for name in ("name", "description")}
    attributes = {name: bool(sent.get(SWITCH + name)) for name in switches(chosen.root)}
    try:
        valid_name(filled["name"])
    except InvalidInputError as error:
        return _form(request, chosen, filled, attributes, {"name": str(error)})
    try:
        resource_metadata.valid_description(filled["description"])
        made = workspaces.create(
            ctx,
            chosen.model.name,
            filled["name"],
            attributes={name: on for name, on in attributes.items() if on},
            description=filled["description"],
        )
    except (InvalidInputError, ConflictError) as error:
        return _form(request, chosen, filled, attributes, {"description": str(error)})
    return pages.go(request, addresses.workspace(made), Flash(f"{filled['name']} was made."))


def choices(ctx: RequestContext) -> list[Choice]:
    """All models, and whether the caller may make one of them."""
    found: list[Choice] = []
    for root in kinds.workspace_kinds(ctx.view.policy):
        model = ctx.view.policy.models[root.model]
        edges = {root.parent: ctx.caller.tenant} if root.parent else {}
        may = ctx.session.check(ctx.asker, "create", Draft(root.id, edges))
        found.append(Choice(model, words.title_of(model), words.line_of(model), may))
    return found


def switches(root: KindSchema) -> list[str]:
    """The attributes that are on or off and can be chosen at the beginning."""
    return [name for name, attribute in root.attributes.items() if attribute.is_flag and name != kinds.DELETED]


def own_roles(ctx: RequestContext, uid: str) -> list[str]:
    """The roles that the caller holds in a workspace, themself or by a group, by their title."""

    def held(view: FactView) -> list[str]:
        here = view.grants.get(view.resource(uid)) or {}
        mine = view.subject(view.member(ctx.caller.member)).ids
        names = {name for subject in mine for name in role_names(here.get(subject, 0))}
        return [role.title for name, role in kinds.schema_of(view, uid).roles.items() if name in names]

    return ctx.session.read_view(held)


def _through(ctx: RequestContext, space: ResourceSummary) -> str:
    """By what they see it who hold no role in it."""
    if own_roles(ctx, space.uid):
        return ""
    visible = kinds.catalog_kind(ctx.view.policy, space.kind).visible
    told = ctx.session.explain(ctx.asker, visible, space.uid)
    return through(ctx, ctx.caller.member, told).words


def _chosen(ctx: RequestContext, model: str) -> Choice | None:
    return next((choice for choice in choices(ctx) if choice.model.name == model and choice.may), None)


def _new_action(ctx: RequestContext) -> Action:
    if any(choice.may for choice in choices(ctx)):
        return Action("New workspace", "/workspaces/new", icon="plus")
    why_not = "You need the right to create workspaces."
    return Action("New workspace", icon="plus", why_not=why_not, request=_asked(ctx))


def _asked(ctx: RequestContext) -> str:
    return addresses.request(ctx.caller.tenant, "create_workspace")


def _actions(space: ResourceSummary) -> list[Action]:
    return [
        Action("Open", addresses.workspace(space.uid), icon="arrow-right"),
        Action("Members", addresses.workspace(space.uid, "members"), icon="users"),
        Action("Settings", addresses.workspace(space.uid, "settings"), icon="settings"),
        Action("Access", addresses.resource(space.uid, "access"), icon="shield"),
    ]


def _form(
    request: Request,
    chosen: Choice,
    filled: dict[str, str],
    attributes: dict[str, bool] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    on = attributes or {}
    values: dict[str, object] = {
        "choice": chosen,
        "filled": filled,
        "switches": [
            (name, spoken(name), words.ATTRIBUTES.get(name, ""), on.get(name, False)) for name in switches(chosen.root)
        ],
        "errors": errors or {},
    }
    return pages.page(request, "workspaces/new.html", values, status=422 if errors else 200)
