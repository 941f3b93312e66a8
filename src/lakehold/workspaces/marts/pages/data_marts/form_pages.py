"""The form pages of a data mart. Its definition is tested by a worker before it is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import kinds, resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, parse_integer
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts.mart_kinds import DATA_MART_KIND
from lakehold.workspaces.marts.mart_probe import StorageProbeResult, definition_errors
from lakehold.workspaces.marts.pages import storage_probe
from lakehold.workspaces.marts.pages.data_marts import data_mart_form
from lakehold.workspaces.marts.pages.data_marts.data_mart_form import DataMartForm, JoinForm, parse_join_columns
from lakehold.workspaces.marts.pages.storage_probe import probe_grid, probe_storage
from lakehold.workspaces.marts.settings import parse_definition
from lakehold.workspaces.marts.storages import StorageProbeTarget


@dataclass(frozen=True, slots=True)
class DefinitionTest:
    """The result of testing a definition: sample rows, and errors by field."""

    seen: StorageProbeResult = field(default_factory=StorageProbeResult)
    errors: Mapping[str, str] = field(default_factory=dict)
    no_worker: LakeholdError | None = None


def run_definition_test(request: Request, filled: DataMartForm, before: Mapping[str, object] | None) -> DefinitionTest:
    """Test the definition. One that draws from a hidden storage or from a connector is not tested."""
    if not filled.storage or filled.is_fed:
        return DefinitionTest()
    looked = probe_storage(request, StorageProbeTarget(filled.storage, by=filled.by, text=filled.text))
    if looked.error is not None:
        if isinstance(looked.error, NoWorkerError):
            return DefinitionTest(no_worker=looked.error)
        return DefinitionTest(errors={filled.by: str(looked.error)})
    try:
        definition = parse_definition(filled.settings(before))
    except InvalidInputError as error:
        return DefinitionTest(looked.seen, {filled.by: str(error)})
    found = definition_errors(definition, looked.seen.fields)
    if "columns" in found:
        found[filled.by] = f"The schema contains a field that no longer exists. {found.pop('columns')}"
    names = [each["name"] for each in looked.seen.fields]
    found |= read_transaction(request).run(lambda ctx: _join_column_errors(request, ctx, filled, names))
    return DefinitionTest(looked.seen, found)


def _join_column_errors(
    request: Request, ctx: RequestContext, filled: DataMartForm, names: Sequence[str]
) -> dict[str, str]:
    """Return errors for join columns that do not exist, as far as the other data mart has rows."""
    eyes, lake, found = VisibleRefs(ctx), get_lake(request), dict[str, str]()
    for n, join in enumerate(filled.joins):
        now = lake.current_metadata(readable_tables.identifier_of(ctx, join.mart)) if eyes.sees(join.mart) else None
        theirs = {each.name for each in now.fields} if now else None
        for our, their in parse_join_columns(join.on).items():
            if our not in names:
                found[f"join_on-{n}"] = f"It has no column {our}."
            elif theirs is not None and their not in theirs:
                found[f"join_on-{n}"] = f"The other data mart has no column {their}."
    return found


new = router("/workspaces")
routes = router("/resources")


@new.get("/{uid:path}/marts/new")
def new_form(request: Request, uid: str, storage: str = "", table: str = "") -> Response:
    """Render the form for a new data mart. Its storage is chosen first."""
    read_transaction(request).run(lambda ctx: need_project(ctx, uid))
    return DataMartFormPage(request, uid).render(data_mart_form.blank_data_mart_form(storage, table))


@new.post("/{uid:path}/marts/new")
def make(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Test and create the data mart."""
    read_transaction(request).run(lambda ctx: need_project(ctx, uid))
    return _submit_form(DataMartFormPage(request, uid), sent)


@routes.get("/{uid:path}/mart/edit")
def edit_form(request: Request, uid: str, storage: str = "", choose: str = "") -> Response:
    """Render the form of an existing data mart. The address may name another storage."""

    def present(ctx: RequestContext) -> tuple[DataMartFormPage, DataMartForm]:
        found = need_edit(ctx, uid)
        hidden = bool(edge_targets(ctx, uid, "storage")) and not found.edges.get("storage")
        return DataMartFormPage(
            request, _workspace_id(found), found, has_hidden_storage=hidden and not choose
        ), data_mart_form.data_mart_form_from_resource(ctx, found)

    page, filled = read_transaction(request).run(present)
    return page.render(replace(filled, storage="" if choose else storage or filled.storage))


@routes.post("/{uid:path}/mart/edit")
def edit(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Test and save the data mart."""

    def present(ctx: RequestContext) -> tuple[DataMartFormPage, DataMartForm]:
        found = need_edit(ctx, uid)
        return DataMartFormPage(
            request, _workspace_id(found), found, has_hidden_storage=True
        ), data_mart_form.data_mart_form_from_resource(ctx, found)

    page, was = read_transaction(request).run(present)
    filled = data_mart_form.parse_data_mart_form(sent)
    if page.found is not None and sent.get("do") == "save" and filled.definition == was.definition:
        return _save_name(page, page.found.uid, filled)
    return _submit_form(page, sent)


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse unless the caller may create data marts in the project."""
    workspaces.need_workspace(ctx, uid)
    ctx.need("create_data_mart", uid)


def need_mart(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the data mart, if the caller may see it."""
    found = resources.get(ctx, uid)
    if found.kind != DATA_MART_KIND:
        raise NotFoundError(f"There is no data mart {quote(uid)}.", "Check the name in the project.")
    return found


def need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the data mart, if the caller may edit it."""
    found = need_mart(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


class DataMartFormPage:
    """Renders the form of a new data mart in a project, or of an existing one."""

    def __init__(
        self, request: Request, within: str, found: ResourceView | None = None, *, has_hidden_storage: bool = False
    ) -> None:
        self.request, self.within, self.found = request, within, found
        self.has_hidden_storage = has_hidden_storage
        """Whether it reads a storage that the user may not see, which is left unchanged."""
        self.action_url = urls.resource(found.uid, "mart/edit") if found else urls.workspace(within, "marts/new")

    def render(
        self,
        filled: DataMartForm,
        *,
        errors: dict[str, str] | None = None,
        error: LakeholdError | None = None,
        trial: DefinitionTest | None = None,
    ) -> Response:
        """Render the form with all submitted values."""
        offered = (
            storage_probe.storage_options(self.request, filled.storage)
            if filled.storage
            else storage_probe.StorageOptions()
        )

        def page(ctx: RequestContext) -> Response:
            found = self.found
            values: dict[str, object] = {
                "crumbs": resource_header.breadcrumbs(
                    ctx, *((found.uid, "Edit") if found else (self.within, "New data mart"))
                ),
                "title": f"Edit {found.name}" if found else "New data mart",
                "to": self.action_url,
                "feed": urls.resource(found.uid, "mart/feed") if found else urls.workspace(self.within, "marts/fed"),
                "back": resource_header.overview_url(ctx, found.uid)
                if found
                else urls.workspace(self.within, "data_mart"),
                "filled": filled,
                "storages": storage_probe.usable_storages(ctx, self.within),
                "new_storage": storage_probe.new_storage_url(ctx, self.within),
                "offered": offered,
                "drawn": self.has_hidden_storage,
                "bys": [each for each in data_mart_form.DEFINITION_KINDS if each[0] != "sql" or offered.sql],
                "modes": data_mart_form.SYNC_MODES,
                "marts": storage_probe.joinable_marts(ctx, self.within, found.uid if found else ""),
                "trial": trial,
                "grid": probe_grid(trial.seen) if trial else None,
                "errors": errors or {},
                "error": error,
                "is_new": found is None,
            }
            return pages.render(self.request, "marts/mart_form.html", values, status=422 if errors or error else 200)

        return read_transaction(self.request).run(page)


def _save_name(page: DataMartFormPage, uid: str, filled: DataMartForm) -> Response:
    """Save name and description alone. The unchanged definition is not tested again."""
    if wrong := filled.name_errors():
        return page.render(filled, errors=wrong)
    edit_request, version = ResourceEdit(filled.name, filled.description), parse_integer(filled.version)
    try:
        write_transaction(page.request).run(
            lambda ctx: resource_edit.apply_edit(ctx, uid, edit_request, expect_version=version)
        )
    except CORRECTABLE_ERRORS as refusal:
        return page.render(filled, error=refusal)
    return pages.redirect(page.request, urls.resource(uid, "mart"), Flash("Saved."))


def _submit_form(page: DataMartFormPage, sent: FormData) -> Response:
    """Handle a submitted form: render it again, test the definition, or save."""
    filled, do = data_mart_form.parse_data_mart_form(sent), str(sent.get("do", ""))
    if do == "join":
        return page.render(replace(filled, joins=[*filled.joins, JoinForm()]))
    before = page.found.settings if page.found else None
    if filled.is_fed and (before or {}).get("by") != filled.by:
        raise InvalidInputError("The connector is not edited in this form.", "Use the connection form.")
    if wrong := filled.errors(page.found.uid if page.found else ""):
        return page.render(filled, errors=wrong)
    trial = run_definition_test(page.request, filled, before)
    if trial.errors:
        return page.render(filled, errors=dict(trial.errors), trial=trial if trial.seen.fields else None)
    if do == "try":
        return page.render(filled, error=trial.no_worker, trial=None if trial.no_worker else trial)
    try:
        uid = write_transaction(page.request).run(lambda ctx: _save(ctx, page, filled, trial.seen.reads))
    except CORRECTABLE_ERRORS as refusal:
        return page.render(filled, error=refusal)
    words = f"{filled.name} was created. Refresh it to load rows." if page.found is None else "Saved."
    return pages.redirect(page.request, urls.resource(uid, "mart"), Flash(words))


def _save(ctx: RequestContext, page: DataMartFormPage, filled: DataMartForm, reads: Sequence[str]) -> str:
    seen = [ref.uid for ref in VisibleRefs(ctx).refs(reads)]
    if page.found is None:
        edges = {"project": page.within, **filled.edges()}
        return resources.create(
            ctx,
            DATA_MART_KIND,
            filled.name,
            edges=edges,
            settings=filled.settings(),
            managed={"reads": seen},
            description=filled.description,
        )
    uid, before = page.found.uid, page.found.settings or {}
    settings = filled.settings(before, data_mart_form.hidden_joins(ctx, before))
    edit_request = ResourceEdit(filled.name, filled.description, settings, {"reads": seen}, edges=filled.edges())
    resource_edit.apply_edit(ctx, uid, edit_request, expect_version=parse_integer(filled.version))
    return uid


def _workspace_id(found: ResourceView) -> str:
    return found.workspace.uid if found.workspace else ""
