"""The pipelines of a project: data marts are refreshed, checked and copied, reports are sent; and their steps.

A step has the settings that there were when its run began. `executors` executes the steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import kinds, resource_edit, resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import attributes_of
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.runs.runnable import (
    DefinitionPart,
    EndedRun,
    Runnable,
    RunNotice,
    RunOptions,
    Step,
    parts_of,
    refuse_backfill,
)
from lakehold.workspaces.graph import edge_sources, edge_targets, need_kind
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.report_settings import REPORT
from lakehold.workspaces.marts.settings import (
    DATA_MART,
    DATA_MART_KIND,
    LIVE_TYPE,
    REPORT_KIND,
    DefinitionType,
    LakeStorageSettings,
    MartSettings,
    parse_definition,
)
from lakehold.workspaces.upkeep import HIDE, TASK_PARAMETER, MaintainTable, is_upkeep, upkeep_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshMart(Step):
    """Refresh the rows of a data mart from its storage."""

    mart: str
    settings: Mapping[str, object]
    storage: str
    storage_settings: Mapping[str, object]
    reload: bool = False
    """All of them, whatever was read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChecks(Step):
    """Run the checks of a data mart."""

    mart: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyToStorage(Step):
    """Copy the rows of a data mart into its storage."""

    mart: str
    kept_as: str
    storage: str
    storage_settings: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SendReport(Step):
    """Send the rows of a report to its destination."""

    report: str
    settings: Mapping[str, object]
    mart: str
    marts: Mapping[str, Mapping[str, object]]
    """The settings of the data mart and of all that are joined to it."""
    destination: str
    destination_settings: Mapping[str, object]


CHECK_TASK = "check"
"""The option to run only the checks."""


class _ProjectPipeline(Runnable):
    """A resource of a project that is run. Only Project Admins delete its runs."""

    private_errors = True

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the resource itself, so that two of its runs do not overlap."""
        del ctx
        return [uid]

    def delete_right(self, ctx: RequestContext, uid: str) -> RequiredRight:
        """Return the right that only Project Admins of the project have."""
        project = kinds.workspace_of(ctx.view, uid)
        assert project is not None  # noqa: S101 - no mart and no report lies elsewhere
        return RequiredRight("manage_settings", project)

    def notices(self, ctx: RequestContext, uid: str, ended: EndedRun) -> Sequence[RunNotice]:
        """Return the notices that the project is subscribed to, for those who may see the data mart."""
        return receivers.run_notices(ctx, uid, self.visible_through(ctx, uid), ended)


class DataMartPipeline(_ProjectPipeline):
    """Refreshes a data mart. Those who may edit it may refresh it, and those who see it see its runs."""

    kind = DATA_MART_KIND
    trigger, schedule, stop, see = "edit", "manage_triggers", "edit", "see"
    trigger_kind = "marts.data_mart_trigger"
    choices: Mapping[str, Sequence[str]] = MappingProxyType({TASK_PARAMETER: (CHECK_TASK,)})

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the refresh from a storage that the caller may use, and the checks; or the checks alone.

        Rows that fail a blocking check are not copied to the storage.
        """
        refuse_backfill(options, DATA_MART.label)
        if ctx.caller.member or not is_upkeep(options):
            ctx.need(self.trigger, uid)
        if is_upkeep(options):
            return upkeep_steps(uid, HIDE)
        stored = resource_metadata.load(ctx, uid).settings
        settings = parse_definition(stored)
        looks = [RunChecks(name="check", reads=(uid,), mart=uid, settings=stored)] if settings.checks else []
        if options.parameters.get(TASK_PARAMETER) == CHECK_TASK:
            if not looks:
                raise ConflictError(f"The {describe_resource(ctx.view, uid)} has no checks.", "Add one first.")
            return looks
        storage = storage_of(ctx, uid)
        ctx.need("use", storage)
        storage_settings = resource_metadata.load(ctx, storage).settings
        refresh = RefreshMart(
            name="refresh",
            reads=(storage,),
            writes=(uid,),
            mart=uid,
            settings=stored,
            storage=storage,
            storage_settings=storage_settings,
            reload=options.reload,
        )
        if not settings.kept_as:
            return [refresh, *looks]
        _refuse_copy_name(ctx, uid, storage, settings.kept_as)
        copy = CopyToStorage(
            name="keep",
            reads=(uid, storage),
            mart=uid,
            kept_as=settings.kept_as,
            storage=storage,
            storage_settings=storage_settings,
        )
        return [refresh, *looks, copy]

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return what the step executes of the data mart, and its storage, which says where its tables are; nothing
        for its upkeep.
        """
        match step:
            case RefreshMart():
                return (*parts_of(self.kind, uid, "checks", "kept_as", "joins"), DefinitionPart(step.storage))
            case CopyToStorage():
                return DefinitionPart(uid, "kept_as"), DefinitionPart(step.storage)
            case MaintainTable():
                return ()
            case _:
                return (DefinitionPart(uid, "checks"),)

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return the right to edit its storage; the data mart itself if it has a connector of its own."""
        by = resource_metadata.load(ctx, uid).settings.get("by")
        storage = edge_targets(ctx, uid, "storage")
        ends = (uid, *storage) if by == DefinitionType.CONNECTOR or not storage else storage
        return [RequiredRight("edit", end) for end in ends]

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step if the caller may no longer use the data mart or its storage."""
        if isinstance(step, MaintainTable):
            return
        ctx.need("use", uid)
        if isinstance(step, RefreshMart | CopyToStorage):
            ctx.need("use", step.storage)


def _refuse_copy_name(ctx: RequestContext, uid: str, storage: str, name: str) -> None:
    """Refuse a copy whose name another data mart of the storage uses."""
    if isinstance(storages.storage_settings(ctx, storage), LakeStorageSettings):
        raise ConflictError(
            "A data mart of a lakehouse has no copy in its storage.", "Leave the name of the copy, kept_as, empty."
        )
    others = (each for each in edge_sources(ctx, storage, "storage") if each != uid)
    names = (str(resource_metadata.load(ctx, each).settings.get("kept_as", "")) for each in others)
    if any(each.casefold() == name.casefold() for each in names):
        raise ConflictError(f"Another data mart of this storage has the copy {quote(name)}.", "Choose another name.")


def mart_settings(ctx: RequestContext, uid: str) -> MartSettings:
    """Return the settings of a data mart."""
    return DATA_MART.parse(resource_metadata.load(ctx, uid).settings)


def mart_definition(ctx: RequestContext, uid: str) -> MartSettings:
    """Return the settings of a data mart that is defined; refused for one that is not."""
    return parse_definition(resource_metadata.load(ctx, uid).settings)


def need_published(ctx: RequestContext, uid: str) -> None:
    """Refuse a data mart that is a draft."""
    if not mart_settings(ctx, uid).published:
        raise ConflictError(f"The {describe_resource(ctx.view, uid)} is a draft.", "Publish it first.")
    mart_definition(ctx, uid)


def storage_of(ctx: RequestContext, uid: str) -> str:
    """Return the storage of a data mart."""
    found = edge_targets(ctx, uid, "storage")
    if not found:
        raise ConflictError(f"The {describe_resource(ctx.view, uid)} has no storage.", "Choose one.")
    return found[0]


def publish(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> None:
    """Publish a data mart that has rows, so that it can be reported on."""
    _need_editable(ctx, uid)
    mart_definition(ctx, uid)
    storage_of(ctx, uid)
    if lake.current_metadata(readable_tables.identifier_of(ctx, uid)) is None:
        raise ConflictError(
            f"The {describe_resource(ctx.view, uid)} has no rows yet.", "Refresh it once, then publish it."
        )
    resource_edit.apply_edit(ctx, uid, ResourceEdit(managed={"published": True}))


def unpublish(ctx: RequestContext, uid: str) -> None:
    """Make the data mart a draft again; its reports are refused until it is published."""
    _need_editable(ctx, uid)
    resource_edit.apply_edit(ctx, uid, ResourceEdit(managed={"published": False}))


def _need_editable(ctx: RequestContext, uid: str) -> None:
    ctx.need_writable()
    among, hint = (DATA_MART_KIND,), "Choose a data mart."
    need_kind(ctx, uid, "edit", among, refusal="A {} is not published.", hint=hint)


class ReportPipeline(_ProjectPipeline):
    """Sends a report. Those who see its data mart see its runs; those who may run it or edit the mart stop them."""

    kind = REPORT_KIND
    trigger, schedule, stop, see = "run", "edit", "run", "see"
    trigger_kind = "marts.report_trigger"
    reloads = False

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step that queries and sends."""
        refuse_backfill(options, REPORT.label)
        mart, destination = mart_of(ctx, uid), destination_of(ctx, uid)
        ctx.need(self.trigger, uid)
        destination_settings = resource_metadata.load(ctx, destination).settings
        if destination_settings.get("to") == LIVE_TYPE:
            raise ConflictError(
                f"The {describe_resource(ctx.view, uid)} is pulled, and not sent.", "Its destination is live."
            )
        need_published(ctx, mart)
        marts = joined_marts(ctx, mart)
        step = SendReport(
            name="send",
            reads=tuple(marts),
            report=uid,
            settings=resource_metadata.load(ctx, uid).settings,
            mart=mart,
            marts=marts,
            destination=destination,
            destination_settings=destination_settings,
        )
        return [step]

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return the report, its destination, which says where rows go, and the joins of its data mart."""
        assert isinstance(step, SendReport)  # noqa: S101 - it has no others
        return (*report_parts(uid, step.marts), DefinitionPart(step.destination))

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a data mart that the caller may no longer use, or that has become a draft meanwhile."""
        assert isinstance(step, SendReport)  # noqa: S101 - it has no others
        for mart in step.reads:
            ctx.need("use", mart)
        need_published(ctx, mart_of(ctx, uid))

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return the right to edit its destination."""
        return [RequiredRight("edit", end) for end in edge_targets(ctx, uid, "destination") or (uid,)]

    def visible_through(self, ctx: RequestContext, uid: str) -> str:
        """Return its data mart."""
        return mart_of(ctx, uid)

    def stop_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return `run` on the report, or `edit` on its data mart."""
        return (RequiredRight(self.stop, uid), RequiredRight("edit", mart_of(ctx, uid)))


def report_parts(uid: str, marts: Iterable[str]) -> list[DefinitionPart]:
    """Return the parts of definitions that say what a report reads: its own, and the joins of its data marts."""
    return [*parts_of(REPORT_KIND, uid), *(DefinitionPart(mart, "joins") for mart in marts)]


def joined_marts(ctx: RequestContext, mart: str) -> dict[str, Mapping[str, object]]:
    """Return the settings of a data mart and of all that are joined to it, one behind the other."""
    found: dict[str, Mapping[str, object]] = {}
    waiting = [mart]
    while waiting:
        uid = waiting.pop(0)
        if uid not in found:
            found[uid] = resource_metadata.load(ctx, uid).settings
            saved = edge_targets(ctx, uid, "joins")
            for join in DATA_MART.parse(found[uid]).joins:
                if join.mart not in saved:
                    # Those who use this one need not see what the others join.
                    name = f" {quote(join.name)}" if uid == mart else " of a joined data mart"
                    raise InvalidInputError(f"The join{name} was not saved.", "Save its joins again.")
                waiting.append(join.mart)
    return found


def mart_of(ctx: RequestContext, uid: str) -> str:
    """Return the data mart of a report."""
    found = kinds.parent_of(ctx.view, uid)
    assert found is not None  # noqa: S101 - no report lies elsewhere
    return found


def destination_of(ctx: RequestContext, uid: str) -> str:
    """Return the destination of a report; refused if it is deleted."""
    there = next((each for each in edge_targets(ctx, uid, "destination") if not is_deleted(ctx, each)), None)
    if there is None:
        raise ConflictError(
            f"The destination of {describe_resource(ctx.view, uid)} is gone.",
            "Restore it, or choose another destination.",
        )
    return there


def is_deleted(ctx: RequestContext, destination: str) -> bool:
    """Return whether the destination is deleted and can only be seen and restored."""
    return ctx.session.read_view(lambda view: attributes_of(view, destination).get(kinds.DELETED)) == "true"


RUNNABLES: tuple[Runnable, ...] = (DataMartPipeline(), ReportPipeline())
