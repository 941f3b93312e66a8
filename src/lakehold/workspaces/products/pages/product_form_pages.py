"""The form pages of a data product. Every button submits the whole form, so that it works without scripts."""

from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access import Draft
from lakehold.api.http.dependencies import ReadContext, read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.lake import table_views
from lakehold.web import form_tree, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.connections.form_page import workspace_id
from lakehold.web.form_values import CORRECTABLE_ERRORS, error_field, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.products import source_profiles
from lakehold.workspaces.products.attribute_types import PARTS
from lakehold.workspaces.products.pages import product_form
from lakehold.workspaces.products.pages.entity_pages import need_product
from lakehold.workspaces.products.pages.product_form import BLANK_ATTRIBUTE, ProductForm
from lakehold.workspaces.products.profiles import SourceProfile
from lakehold.workspaces.products.settings import PRODUCT, PRODUCT_KIND, PROJECT_KIND, SOURCE_KIND, ConsolidationRule
from lakehold.workspaces.products.templates import load_templates

new = router("/workspaces")
routes = router("/resources")

_MAX_SOURCES = 300
_PLACES = {
    "attributes": "attributes.{}",
    "sources": "sources.{}",
    "match.threshold": "match.threshold",
    "match.review": "match.review",
    "clusters.max_records": "clusters.max_records",
}


@new.get("/{uid:path}/products/new")
def new_product_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of a new data product."""
    _need_new(ctx, uid)
    return ProductFormPage(request, uid).render(ctx, _restored(request) or ProductForm())


@new.post("/{uid:path}/products/new")
def create_product(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Create the data product, or render the form again after another button."""
    read_transaction(request).run(lambda ctx: _need_new(ctx, uid))
    return ProductFormPage(request, uid).submit(sent)


@routes.get("/{uid:path}/product/edit")
def edit_product_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form of an existing data product."""
    found = _need_edit(ctx, uid)
    return ProductFormPage(request, workspace_id(found), found).render(
        ctx, _restored(request) or product_form.form_of(found)
    )


@routes.post("/{uid:path}/product/edit")
def edit_product(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Save the data product, or render the form again after another button."""
    found = read_transaction(request).run(lambda ctx: _need_edit(ctx, uid))
    return ProductFormPage(request, workspace_id(found), found).submit(sent)


def _need_new(ctx: RequestContext, uid: str) -> None:
    workspaces.need_workspace(ctx, uid, PROJECT_KIND)
    ctx.need_draft(Draft(PRODUCT_KIND, {"project": uid}))


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = need_product(ctx, uid)
    kinds.need_right(ctx, uid, "edit")
    return found


def _restored(request: Request) -> ProductForm | None:
    sent = pages.restored_form(request)
    return product_form.parse_form(sent) if sent else None


class ProductFormPage:
    """Renders and saves the form of a new data product in a project, or of an existing one."""

    def __init__(self, request: Request, within: str, found: ResourceView | None = None) -> None:
        self.request, self.within, self.found = request, within, found

    def render(
        self,
        ctx: RequestContext,
        filled: ProductForm,
        *,
        errors: Mapping[str, str] | None = None,
        error: LakeholdError | None = None,
    ) -> Response:
        """Render the form with all submitted values."""
        uid = self.found.uid if self.found else ""
        attached = [str(each.get("source", "")) for each in form_tree.records(filled.texts, "sources")]
        known = self._sources(ctx)
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid or self.within, "Set up" if uid else "New data product"),
            "title": f"Set up {self.found.name}" if self.found else "New data product",
            "to": urls.resource(uid, "product/edit") if uid else urls.workspace(self.within, "products/new"),
            "back": resource_header.overview_url(ctx, uid) if uid else urls.workspace(self.within, "product"),
            "is_new": not uid,
            "filled": filled,
            "records": form_tree.records,
            "types": [(each.value, parts.label) for each, parts in PARTS.items()],
            "rules": [(each.value, each.value.capitalize()) for each in ConsolidationRule],
            "templates": [("", "Own schema"), *((each.name, each.label) for each in load_templates().values())],
            "source_names": {
                **known,
                **{each: "A source that you do not see" for each in attached if each not in known},
            },
            "free_sources": [("", "Choose a source"), *((k, n) for k, n in known.items() if k not in attached)],
            "columns": {each: self._columns(ctx, each) for each in attached if each in known},
        }
        return pages.render_form(self.request, "products/product_form.html", values, errors, error)

    def _sources(self, ctx: RequestContext) -> dict[str, str]:
        """Return the sources of the project that the caller sees, by id."""
        items = ctx.session.list(ctx.principal, "see", SOURCE_KIND, within=self.within, limit=_MAX_SOURCES).items
        refs = VisibleRefs(ctx).refs([each.uid for each in items])
        return {each.uid: each.name for each in sorted(refs, key=lambda each: each.name.casefold())}

    def _columns(self, ctx: RequestContext, source: str) -> list[str]:
        found = table_views.view_of(ctx, source).current_metadata(get_lake(self.request))
        return [each.name for each in found.fields] if found else []

    def submit(self, sent: FormData) -> Response:
        """Handle a submitted form: change its lists, or save."""
        filled, do = product_form.parse_form(sent), str(sent.get("do", ""))
        reading = read_transaction(self.request)

        def again(**outcome: Any) -> Response:  # noqa: ANN401 - as `render` has them
            return reading.run(lambda ctx: self.render(ctx, filled, **outcome))

        if do != "save":
            reading.run(lambda ctx: self._change(ctx, filled, do))
            return again()
        before = dict(self.found.settings or {}) if self.found else {}
        settings = filled.settings(before)
        errors = {error_field(each, _PLACES) or "name": str(each) for each in PRODUCT.problems(settings)}
        if errors:
            return again(errors=errors)
        try:
            uid = write_transaction(self.request).run(lambda ctx: self._save(ctx, filled, settings))
        except CORRECTABLE_ERRORS as refusal:
            place = error_field(refusal, _PLACES)
            return again(errors={place: str(refusal)}) if place else again(error=refusal)
        message = "Saved. Applies from the next run." if self.found else f"{filled.name} was created. Run it now."
        return pages.redirect(self.request, urls.resource(uid, "product"), message)

    def _save(self, ctx: RequestContext, filled: ProductForm, settings: Mapping[str, object]) -> str:
        if self.found is None:
            edges = {"project": self.within}
            return resources.create(
                ctx, PRODUCT_KIND, filled.name, edges=edges, settings=settings, description=filled.description
            )
        changes = ResourceEdit(filled.name, filled.description, settings)
        resource_edit.apply_edit(ctx, self.found.uid, changes, expect_version=parse_integer(filled.version))
        return self.found.uid

    def _change(self, ctx: RequestContext, filled: ProductForm, do: str) -> None:
        """Do what a button says that is not the one that saves."""
        word, _, path = do.partition(":")
        chosen = str(filled.texts.get("new_source", ""))
        match word:
            case "template":
                product_form.apply_template(filled, str(filled.texts.get("template", "")))
            case "attribute":
                form_tree.add_record(filled.texts, "attributes", dict(BLANK_ATTRIBUTE))
            case "source" if chosen in self._sources(ctx):
                known = source_profiles.load(ctx, chosen)
                product_form.add_source(filled, chosen, known[0] if known else SourceProfile())
            case "remove" | "up" | "down":
                form_tree.change_list(filled.texts, word, path)
