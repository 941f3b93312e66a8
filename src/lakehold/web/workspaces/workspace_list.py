"""The list of all visible workspaces, and the form for a new one."""

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.access import Draft
from lakehold.access.facts.view import FactView, role_names
from lakehold.access.model.schema import AccessModel, KindSchema
from lakehold.api.http.dependencies import FormContext, ReadContext
from lakehold.catalog import kinds, resource_metadata, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_name
from lakehold.web import pages, urls
from lakehold.web.access.fact_labels import find_reason
from lakehold.web.form_values import FieldErrors, collect_errors
from lakehold.web.labels import humanize, pluralize
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.workspaces.registry import all_workspaces


def attribute_hint(name: str) -> str:
    """Return the description of what an attribute does when it is on; empty if there is none."""
    return next((hint for each in all_workspaces() if (hint := each.attribute_hints.get(name, ""))), "")


def describe_model(model: AccessModel) -> str:
    """Describe what a model is for. A custom model is described by its kinds."""
    known = next((each.description for each in all_workspaces() if each.name == model.name), "")
    if known:
        return known
    titles = [pluralize(kind.title) for kind in model.kinds.values() if kind.name != model.root]
    return f"Custom model with {', '.join(titles).lower()}." if titles else "Custom model."


def model_title(model: AccessModel) -> str:
    """Return the title of a model's workspaces, unique where two models share a word: `Marts project`."""
    title = model.kinds[model.root].title
    says_it_all = " " in title or title.casefold().rstrip("s") in model.title.casefold()
    return title if says_it_all else f"{model.title} {title.lower()}"


routes = router("/workspaces")

SWITCH_PREFIX = "switch_"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that a new workspace can have."""

    model: AccessModel
    title: str
    line: str
    may: bool

    @property
    def root(self) -> KindSchema:
        """The kind of the workspace itself."""
        return self.model.kinds[self.model.root]

    @property
    def flags(self) -> list[str]:
        """The flag attributes that can be set when a workspace is created."""
        return [name for name, attribute in self.root.attributes.items() if attribute.is_flag and name != kinds.DELETED]


@routes.get("")
def workspaces_page(request: Request, ctx: ReadContext) -> Response:
    """Render the list."""
    models = [ctx.view.policy.models[root.model] for root in kinds.workspace_kinds(ctx.view.policy)]
    by_model = ListFilter("model", "Kind", tuple((model.name, model_title(model)) for model in models))
    listing = ListState.from_request(request, sorts=("name", "created"), filters=(by_model,))
    found = workspaces.page(ctx, model=listing.chosen["model"] or None, **listing.query)
    values: dict[str, object] = {
        **listing.cursor_values([_workspace_row(ctx, n, each) for n, each in enumerate(found.items)], found.after),
        "may_create": any(choice.may for choice in model_choices(ctx)),
        "request": urls.request(ctx.caller.tenant, "create_workspace"),
    }
    return pages.render(request, "workspaces/workspaces.html", values)


@routes.api_route("/new", methods=FORM_METHODS)
def create_workspace(request: Request, ctx: FormContext, sent: SubmittedForm) -> Response:
    """Show the choice of a model, then the form for the new workspace; create it."""
    model = str((sent if request.method == "POST" else request.query_params).get("model", ""))
    choices, errors = model_choices(ctx), FieldErrors()
    chosen = next((choice for choice in choices if choice.model.name == model and choice.may), None)
    if chosen is None and request.method == "POST":
        return pages.redirect(request, "/workspaces/new")
    if chosen is None:
        asking = urls.request(ctx.caller.tenant, "create_workspace")
        return pages.render(request, "workspaces/choose.html", {"choices": choices, "request": asking})
    filled = {name: str(sent.get(name, "")).strip() for name in ("name", "description")}
    attributes = {name: bool(sent.get(SWITCH_PREFIX + name)) for name in chosen.flags}
    if request.method == "POST" and not (errors := collect_errors(name=lambda: valid_name(filled["name"]))):
        with errors.at("description", InvalidInputError, ConflictError):
            resource_metadata.valid_description(filled["description"])
            chosen_ones = {name: on for name, on in attributes.items() if on}
            created = workspaces.create(ctx, model, **filled, attributes=chosen_ones)
            return pages.redirect(request, urls.workspace(created), f"{filled['name']} was created.")
    switches = [(name, humanize(name), attribute_hint(name), on) for name, on in attributes.items()]
    values: dict[str, object] = {"choice": chosen, "filled": filled, "switches": switches}
    return pages.render_form(request, "workspaces/new.html", values, errors)


def model_choices(ctx: RequestContext) -> list[ModelChoice]:
    """Return all models, and whether the caller may create a workspace of each."""
    found: list[ModelChoice] = []
    for root in kinds.workspace_kinds(ctx.view.policy):
        model = ctx.view.policy.models[root.model]
        edges = {root.parent: ctx.caller.tenant} if root.parent else {}
        may = ctx.session.check(ctx.principal, "create", Draft(root.id, edges))
        found.append(ModelChoice(model, model_title(model), describe_model(model), may))
    return found


def _workspace_row(
    ctx: RequestContext, number: int, space: ResourceSummary
) -> tuple[int, ResourceSummary, list[str], str]:
    """Return a workspace with the caller's roles in it, or, without any, the reason why the caller sees it."""
    if roles := own_roles(ctx, space.uid):
        return number, space, roles, ""
    visible = kinds.catalog_kind(ctx.view.policy, space.kind).visible
    explanation = ctx.session.explain(ctx.principal, visible, space.uid)
    return number, space, [], find_reason(ctx, ctx.caller.member, explanation).words


def own_roles(ctx: RequestContext, uid: str) -> list[str]:
    """Return the titles of the roles that the caller holds in a workspace, directly or through a group."""

    def held(view: FactView) -> list[str]:
        here = view.grants.get(view.resource(uid)) or {}
        mine = view.subject(view.member(ctx.caller.member)).ids
        names = {name for subject in mine for name in role_names(here.get(subject, 0))}
        return [role.title for name, role in kinds.schema_of(view, uid).roles.items() if name in names]

    return ctx.session.read_view(held)
