"""The form pages of a data mart: of its definition on a storage, and of a connector of its own.

A worker tests both before they are saved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import CurrentPlatform, read_transaction, write_transaction
from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog import resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceSummary, ResourceView, VisibleRefs
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake import table_views
from lakehold.runs.worker_client import NoWorkerError
from lakehold.web import pages, table_pages, urls
from lakehold.web.connections.field_values import parse_pairs
from lakehold.web.connections.form import ResourceForm, load_design
from lakehold.web.connections.form_page import ConnectionTest, form_routers, probe_as_caller, workspace_id
from lakehold.web.cookies import Flash
from lakehold.web.form_values import CORRECTABLE_ERRORS, parse_integer, row_settings
from lakehold.web.labels import format_count
from lakehold.web.routing import SubmittedForm
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_probe import ProbeTarget, StorageProbeResult, definition_errors
from lakehold.workspaces.marts.pages import page_frame, storage_pages
from lakehold.workspaces.marts.pages.page_frame import ProjectFormPage
from lakehold.workspaces.marts.pages.storage_pages import StorageOptions, probe_storage
from lakehold.workspaces.marts.settings import (
    DATA_MART_KIND,
    FEEDS,
    DefinitionType,
    MartSettings,
    parse_definition,
    reads_from,
)


class MartFormPage(ProjectFormPage):
    """Base class of both forms of a data mart: who may open them, and the page after saving."""

    kind, list_view = DATA_MART_KIND, "data_mart"
    saved_message: ClassVar[str]

    @classmethod
    def need_workspace(cls, ctx: RequestContext, uid: str) -> None:
        """Refuse unless the caller may create data marts in the project."""
        workspaces.need_workspace(ctx, uid)
        ctx.need("create_data_mart", uid)

    def saved(self, filled: ResourceForm, uid: str) -> tuple[str, str]:
        """Return to the page of the data mart."""
        created = f"{filled.name} was created. Refresh it to load rows."
        return urls.resource(uid, "mart"), self.saved_message if self.found else created


class ConnectorFormPage(MartFormPage):
    """The form page of a data mart that a connector feeds."""

    design, saved_message = (
        load_design(page_frame.FORMS, "data_mart", FEEDS, MartSettings),
        "Saved. Applies from the next refresh.",
    )
    new_part, edit_part = "marts/fed", "mart/feed"
    carried: ClassVar[Mapping[str, str]] = {"storage": "storage"}
    probed: Mapping[str, Any] = MappingProxyType({})
    """The streams, fields and rows that a test has found."""

    def heading(self) -> tuple[str, str]:
        """Return the last breadcrumb and the title."""
        return ("Connection", f"Connection of {self.found.name}") if self.found else super().heading()

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the storages that the caller may use, and the streams that a test has found."""
        storages = [(each.uid, each.name) for each in storage_pages.usable_storages(ctx, self.within)]
        return {"storage": storages, "stream": [(each["name"], "") for each in self.probed.get("streams", ())]}

    def extra_values(self) -> dict[str, object]:
        """Return the rows that a test has found."""
        return {"grid": table_pages.sample_grid(self.probed.get("fields", ()), self.probed.get("rows", ()))}

    def parse(self, sent: FormData) -> ResourceForm:
        """Parse a submitted form. The only endpoint of an API is the stream."""
        filled = super().parse(sent)
        endpoints = filled.lists.get("endpoints", ())
        if filled.text("stream") or len(endpoints) != 1:
            return filled
        return replace(filled, texts={**filled.texts, "stream": endpoints[0]["name"]})

    def check(self, filled: ResourceForm, *, has_secret: bool) -> tuple[ResourceForm, dict[str, str]]:
        """Return the errors by field. An existing data mart may have a storage that its editor does not see."""
        found = filled.errors(has_secret=has_secret)
        return filled, {name: text for name, text in found.items() if name != "storage" or self.found is None}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Read a sample of the stream. Without a stream, those that are there are listed."""
        settings, stream = filled.settings(), filled.text("stream")
        target = ProbeTarget(self.uid, self.within, settings, secrets, text=stream)
        probed, error = probe_as_caller(
            self.request,
            lambda ctx: mart_probe.need_feed_probe(ctx, target),
            lambda platform, caller: mart_probe.probe_feed(platform, caller, target),
        )
        self.probed = probed or {}
        if error is not None:
            return ConnectionTest(error=error)
        if not stream:
            there = ", ".join(str(each["name"]) for each in self.probed.get("streams", ())[:10])
            return ConnectionTest(errors={"stream": f"Select a stream: {there}." if there else "No streams found."})
        fields = self.probed.get("fields", ())
        message = f"Connection successful: {format_count(len(fields), 'field')}."
        return ConnectionTest(message, errors=definition_errors(parse_definition(settings), fields))


new, routes = form_routers(ConnectorFormPage)

_STORAGE, _CONNECTOR = "storage", DefinitionType.CONNECTOR.value
"""The two types of the form of a definition. One that a connector feeds keeps what it is made from."""
_DEFINITIONS = {_STORAGE: MartSettings, _CONNECTOR: MartSettings}


class DefinitionFormPage(MartFormPage):
    """The form page of a data mart on a storage. Workers are called outside of any transaction."""

    design, saved_message = load_design(page_frame.FORMS, "definition", _DEFINITIONS), "Saved."
    template = "marts/mart_form.html"
    new_part, edit_part = "marts/new", "mart/edit"
    keeps_storage = False
    """Whether it reads a storage that the user may not see, which is left unchanged."""
    hidden_joins: Sequence[Mapping[str, object]] = ()
    """The joins that the user may not see; they stay unchanged."""
    probed, offered = StorageProbeResult(), StorageOptions()
    storages: Sequence[ResourceSummary] = ()
    new_storage = ""

    @classmethod
    def labels_of(cls, name: str) -> dict[str, str]:
        """Return the labels of the options of a field."""
        return {option[0]: option[1] for option in cls.design.options_of(_STORAGE, name)}

    @property
    def word(self) -> str:
        """Whether a storage or a connector feeds it."""
        by = (self.found.settings or {}).get("by") if self.found else ""
        return _CONNECTOR if by == _CONNECTOR else _STORAGE

    def load(self, found: ResourceView) -> ResourceForm:
        """Return the form of an existing data mart, with the joins that the user may see."""
        filled, hidden = super().load(found), {each.get("mart") for each in self.hidden_joins}
        texts = {name: text.strip() for name, text in filled.texts.items()}
        joins = [each for each in filled.lists["joins"] if each["mart"] not in hidden]
        return replace(filled, texts=texts, lists={"joins": joins})

    def parse(self, sent: FormData) -> ResourceForm:
        """Parse a submitted form."""
        word = _CONNECTOR if sent.get("by") == _CONNECTOR else _STORAGE
        if word == _CONNECTOR != self.word:
            raise InvalidInputError("The connector is not edited in this form.", "Use the connection form.")
        return self.design.parse(sent, self.found.settings if self.found else None, word)

    def edges(self, filled: ResourceForm) -> dict[str, list[str]]:
        """Return the storage, if it is set, and the joined data marts."""
        return {**super().edges(filled), "joins": list(dict.fromkeys(each["mart"] for each in filled.lists["joins"]))}

    def settings(self, filled: ResourceForm) -> dict[str, object]:
        """Return the settings to save: those of one definition alone, and all joins."""
        settings: dict[str, Any] = filled.settings()
        others = {*DefinitionType, "reads"} - {filled.text("by")} if filled.word == _STORAGE else set()
        cursor = filled.text("cursor") if filled.text("mode") == "incremental" else ""
        own = {"cursor": cursor, "joins": [*self.hidden_joins, *settings["joins"]]}
        return {name: value for name, value in settings.items() if name not in others} | own

    def show(self, filled: ResourceForm, **outcome: Any) -> Response:  # noqa: ANN401 - as `render` has them
        """Render the form, with the tables of its storage."""
        if filled.text("storage"):
            self.offered = storage_pages.storage_options(self.request, filled.text("storage"))
        return read_transaction(self.request).run(lambda ctx: self.render(ctx, filled, **outcome))

    def render(self, ctx: RequestContext, filled: ResourceForm, **outcome: Any) -> Response:  # noqa: ANN401
        """Render the form, with the storages that it could read."""
        self.storages = storage_pages.usable_storages(ctx, self.within)
        self.new_storage = storage_pages.new_storage_url(ctx, self.within)
        return super().render(ctx, filled, **outcome)

    def options(self, ctx: RequestContext) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Return the data marts that it can be joined to."""
        return {"mart": storage_pages.joinable_marts(ctx, self.within, self.uid)}

    def extra_values(self) -> dict[str, object]:
        """Return the storages, the tables of the chosen one, and what a test has found."""
        return {
            "feed": ConnectorFormPage(self.request, self.within, self.found).action_url,
            "storages": self.storages,
            "new_storage": self.new_storage,
            "offered": self.offered,
            "keeps_storage": self.keeps_storage,
            "hidden_joins": self.hidden_joins,
            "bys": [each for each in self.design.options_of(_STORAGE, "by") if each[0] != "sql" or self.offered.sql],
            "notes": self.probed.notes,
            "grid": table_pages.sample_grid(self.probed.fields, self.probed.rows),
        }

    def check(self, filled: ResourceForm, *, has_secret: bool) -> tuple[ResourceForm, dict[str, str]]:
        """Return the errors by field."""
        found, by = filled.errors(has_secret=has_secret), filled.text("by")
        if reads_from(by, filled.text(by), filled.text("kept_as")):
            found["kept_as"] = "This is its source table. Choose another name."
        own = (n for n, join in enumerate(filled.lists["joins"]) if join["mart"] and join["mart"] == self.uid)
        return filled, found | {f"join_mart-{n}": "A data mart cannot be joined to itself." for n in own}

    def test(self, filled: ResourceForm, secrets: Mapping[str, str]) -> ConnectionTest:
        """Read a sample of the definition. One that draws from a hidden storage or from a connector is not tested."""
        del secrets
        storage, by = filled.text("storage"), filled.text("by")
        if not storage or filled.word == _CONNECTOR:
            return ConnectionTest()
        probe = probe_storage(self.request, ProbeTarget(storage, by=by, text=filled.text(by)))
        if isinstance(probe.error, NoWorkerError):
            return ConnectionTest(error=probe.error)
        if probe.error is not None:
            return ConnectionTest(errors={by: str(probe.error)})
        self.probed = probe.seen
        try:
            definition = parse_definition(self.settings(filled))
        except InvalidInputError as error:
            return ConnectionTest(errors={by: str(error)})
        found = definition_errors(definition, probe.seen.fields)
        if "columns" in found:
            found[by] = f"The schema contains a field that no longer exists. {found.pop('columns')}"
        joins = read_transaction(self.request).run(lambda ctx: self._join_column_errors(ctx, filled))
        return ConnectionTest(errors=found | joins)

    def _join_column_errors(self, ctx: RequestContext, filled: ResourceForm) -> dict[str, str]:
        """Return errors for join columns that do not exist, as far as the other data mart has rows."""
        visible, lake, found = VisibleRefs(ctx), get_lake(self.request), dict[str, str]()
        names = {each["name"] for each in self.probed.fields}
        for n, join in enumerate(filled.lists["joins"]):
            mart = join["mart"]
            now = table_views.view_of(ctx, mart).current_metadata(lake) if visible.sees(mart) else None
            theirs = {each.name for each in now.fields} if now else None
            for our, their in parse_pairs(join["on"]).items():
                if our not in names:
                    found[f"join_on-{n}"] = f"It has no column {our}."
                elif theirs is not None and their not in theirs:
                    found[f"join_on-{n}"] = f"The other data mart has no column {their}."
        return found

    def submit(self, platform: Platform, sent: FormData) -> Response:
        """Handle a submitted form: add a join, test the definition, or save, if need be without a worker's test."""
        del platform
        filled, do = self.parse(sent), str(sent.get("do", ""))
        if do == "join":
            return self.show(filled.add_record())
        renames = do == "save" and self._is_defined_alike(filled)
        _, errors = self.check(filled, has_secret=False)
        if renames:
            errors = {name: text for name, text in errors.items() if name == "name"}
        if errors:
            return self.show(filled, errors=errors)
        tested = ConnectionTest() if renames else self.test(filled, {})
        if tested.errors or do == "try":
            return self.show(filled, errors=tested.errors, error=tested.error)
        try:
            uid = write_transaction(self.request).run(lambda ctx: self.save(ctx, filled, {}))
        except CORRECTABLE_ERRORS as refusal:
            return self.show(filled, error=refusal)
        address, message = self.saved(filled, uid)
        return pages.redirect(self.request, address, Flash(message))

    def _is_defined_alike(self, filled: ResourceForm) -> bool:
        """Return whether at most name and description change, for which an editor needs no access to its storage."""
        if self.found is None:
            return False
        was = self.load(self.found)
        return filled.text("storage") == was.text("storage") and self.settings(filled) == self.settings(was)

    def save(self, ctx: RequestContext, filled: ResourceForm, secrets: Mapping[str, str]) -> str:
        """Create or edit the data mart, with the tables that it was seen to read, and return its id."""
        del secrets
        name, description, settings = filled.name, filled.text("description"), self.settings(filled)
        managed = {"reads": [ref.uid for ref in VisibleRefs(ctx).refs(self.probed.reads)]}
        if self.found is None:
            edges = {"project": [self.within], **self.edges(filled)}
            return resources.create(
                ctx, self.kind, name, edges=edges, settings=settings, managed=managed, description=description
            )
        changes = ResourceEdit(name, description, settings, managed, edges=self.edges(filled))
        if self._is_defined_alike(filled):
            changes = ResourceEdit(name, description)
        resource_edit.apply_edit(ctx, self.uid, changes, expect_version=parse_integer(filled.text("version")))
        return self.uid


@new.get("/{uid:path}/marts/new")
def new_form(request: Request, uid: str, storage: str = "", table: str = "") -> Response:
    """Render the form for a new data mart. Its storage is chosen first."""
    read_transaction(request).run(lambda ctx: DefinitionFormPage.need_workspace(ctx, uid))
    page, by = DefinitionFormPage(request, uid), DefinitionType.TABLE if table else DefinitionType.SQL
    if sent := pages.restored_form(request):
        return page.show(page.parse(sent))
    return page.show(page.design.blank(_STORAGE, storage=storage, table=table, by=by.value))


@new.post("/{uid:path}/marts/new")
def make(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and create the data mart."""
    read_transaction(request).run(lambda ctx: DefinitionFormPage.need_workspace(ctx, uid))
    return DefinitionFormPage(request, uid).submit(platform, sent)


@routes.get("/{uid:path}/mart/edit")
def edit_form(request: Request, uid: str, storage: str = "", choose: str = "") -> Response:
    """Render the form of an existing data mart. The address may name another storage."""
    page, found = _open_page(request, uid)
    if sent := pages.restored_form(request):
        page.keeps_storage = True
        return page.show(page.parse(sent))
    page.keeps_storage = page.keeps_storage and not choose
    filled = page.load(found)
    chosen = "" if choose else storage or filled.text("storage")
    return page.show(replace(filled, texts={**filled.texts, "storage": chosen}))


@routes.post("/{uid:path}/mart/edit")
def edit(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Test and save the data mart."""
    page, _ = _open_page(request, uid)
    page.keeps_storage = True
    return page.submit(platform, sent)


def _open_page(request: Request, uid: str) -> tuple[DefinitionFormPage, ResourceView]:
    """Return the page of an existing data mart that the caller may edit."""

    def load(ctx: RequestContext) -> tuple[DefinitionFormPage, ResourceView]:
        found, visible = DefinitionFormPage.need_resource(ctx, uid), VisibleRefs(ctx)
        page = DefinitionFormPage(request, workspace_id(found), found)
        joins = row_settings(found.settings or {}, "joins")
        page.hidden_joins = [each for each in joins if not visible.sees(str(each.get("mart", "")))]
        page.keeps_storage = bool(edge_targets(ctx, uid, "storage")) and not found.edges.get("storage")
        return page, found

    return read_transaction(request).run(load)
