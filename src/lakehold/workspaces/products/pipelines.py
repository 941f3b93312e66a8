"""The kinds of a products project that are run: sources, data products, workflows, and tables for their upkeep."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError
from lakehold.runs.runnable import DefinitionPart, Runnable, RunOptions, Step, parts_of, refuse_backfill
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.products.product_tables import list_tables
from lakehold.workspaces.products.settings import (
    ENTITY_TABLE_KIND,
    PRODUCT,
    PRODUCT_KIND,
    RECORD_TABLE_KIND,
    SOURCE,
    SOURCE_KIND,
    WORKFLOW,
    WORKFLOW_KIND,
    DataProductSettings,
)
from lakehold.workspaces.products.steps import (
    ClusterRecords,
    ConsolidateEntities,
    DeliverVersion,
    MatchRecords,
    ProductStep,
    PublishVersion,
    RefreshSource,
    StandardiseRecords,
)
from lakehold.workspaces.upkeep import TASK_PARAMETER, is_upkeep, upkeep_steps

PUBLISH = "publish"
"""The option to publish the newest version instead of making one."""
_SOURCES = "sources"


class ProductSourcePipeline(Runnable):
    """Refreshes a source. Those who may edit it may refresh it; they and its author must be able to read its rows."""

    kind = SOURCE_KIND
    trigger, schedule, stop, see = "edit", "edit", "edit", "see"
    private_errors = True

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the source, whose table it fills."""
        del ctx
        return [uid]

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step, or those of its upkeep."""
        refuse_backfill(options, SOURCE.label)
        if is_upkeep(options):
            if ctx.caller.member:
                ctx.need(self.trigger, uid)
            return upkeep_steps(uid)
        ctx.need(self.trigger, uid)
        return [refresh_step(ctx, uid)]

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return what says which rows are read; nothing for its upkeep."""
        return parts_of(self.kind, uid) if isinstance(step, RefreshSource) else ()

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse those who may no longer edit it; upkeep needs no right."""
        if isinstance(step, RefreshSource):
            ctx.need(self.trigger, uid)


def refresh_step(ctx: RequestContext, uid: str) -> RefreshSource:
    """Return the step that refreshes a source."""
    stored = resource_metadata.load(ctx, uid).settings
    SOURCE.parse(stored)
    return RefreshSource(name="refresh", writes=(uid,), source=uid, settings=stored)


class ProductPipeline(Runnable):
    """Makes a new version of a data product, or publishes the newest one."""

    kind = PRODUCT_KIND
    trigger, schedule, stop, see = "run", "run", "run", "open"
    choices: Mapping[str, Sequence[str]] = MappingProxyType({TASK_PARAMETER: (PUBLISH,)})
    private_errors = True

    def start_action(self, options: RunOptions) -> str:
        """Return the action that is needed: to run it or to publish."""
        return PUBLISH if options.parameters.get(TASK_PARAMETER) == PUBLISH else self.trigger

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return its tables."""
        return list(list_tables(ctx, uid).values())

    def locks(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[str]:
        """Return the data product with its tables, and the sources that are read."""
        del options
        return [uid, *self.outputs(ctx, uid)]

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the steps that make a version, or those that publish one."""
        refuse_backfill(options, PRODUCT.label)
        ctx.need(self.start_action(options), uid)
        if options.parameters.get(TASK_PARAMETER) == PUBLISH:
            return publish_steps(ctx, uid)
        return version_steps(ctx, uid, full=options.reload)

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return nothing: what its authors need is asked with each step, as they need not run it themselves."""
        del uid, step
        return ()

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step if the caller may no longer do it, or who attached a source no longer sees that."""
        ctx.need(PUBLISH if isinstance(step, PublishVersion | DeliverVersion) else self.trigger, uid)
        if isinstance(step, ProductStep):
            need_sources(ctx, step.product, step.reads)

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return the right to see its records."""
        del ctx
        return (RequiredRight("view_records", uid),)


def need_sources(ctx: RequestContext, product: str, sources: Sequence[str]) -> None:
    """Refuse sources that the member who attached them to a data product no longer sees.

    Who runs the data product has the right to its records, which is not one to all rows of the project's sources.
    """
    author = resource_metadata.load_author(ctx, product, _SOURCES)
    who = author.caller if author and author.caller.member else ctx.caller
    for source in sources:
        if not ctx.session.check(who.principal, "see", source):
            number = ctx.view.ids.get(who.member)
            name = (ctx.view.names.get(number) if number is not None else None) or who.member
            raise DeniedError(
                f"{name}, who last changed the sources of the {describe_resource(ctx.view, product)}, may not see one.",
                "Whoever sees its sources and may configure it can save its sources again.",
                action="see",
                resource=product,
            )


def parse_product(ctx: RequestContext, uid: str) -> tuple[Mapping[str, object], DataProductSettings]:
    """Return the settings of a data product that is complete enough to be run, as stored and parsed."""
    stored = resource_metadata.load(ctx, uid).settings
    settings = PRODUCT.parse(stored)
    name = describe_resource(ctx.view, uid)
    if not any(each.matched for each in settings.attributes):
        raise ConflictError(f"The {name} compares no attribute.", "Add an attribute, and let matching compare it.")
    if not settings.sources:
        raise ConflictError(f"The {name} has no source.", "Attach one.")
    for mapping in settings.sources:
        if mapping.source not in edge_targets(ctx, uid, _SOURCES):
            raise ConflictError(f"A source of the {name} is gone, or was never saved.", "Choose its sources again.")
        if not mapping.columns:
            source = describe_resource(ctx.view, mapping.source)
            raise ConflictError(f"The {source} gives no attribute.", "Map its columns to attributes.")
    return stored, settings


def version_steps(ctx: RequestContext, uid: str, *, full: bool) -> list[ProductStep]:
    """Return the steps that make a new version of a data product."""
    stored, settings = parse_product(ctx, uid)
    sources = tuple(mapping.source for mapping in settings.sources)
    keys = {source: SOURCE.parse(resource_metadata.load(ctx, source).settings).keys for source in sources}
    common: dict[str, Any] = {"product": uid, "settings": stored}
    return [
        StandardiseRecords(name="standardise", reads=sources, writes=(uid,), keys=keys, **common),
        MatchRecords(name="match", writes=(uid,), full=full, **common),
        ClusterRecords(name="cluster", writes=(uid,), **common),
        ConsolidateEntities(name="consolidate", writes=(uid,), **common),
    ]


def publish_steps(ctx: RequestContext, uid: str) -> list[ProductStep]:
    """Return the steps that publish the newest version, and send it to each destination."""
    common: dict[str, Any] = {"product": uid, "settings": resource_metadata.load(ctx, uid).settings}
    deliveries = [
        DeliverVersion(
            name=f"deliver {_name(ctx, destination)}",
            destination=destination,
            destination_settings=resource_metadata.load(ctx, destination).settings,
            **common,
        )
        for destination in edge_targets(ctx, uid, "destinations")
    ]
    return [PublishVersion(name="publish", writes=(uid,), **common), *deliveries]


class WorkflowPipeline(Runnable):
    """Refreshes sources, runs data products and publishes them, one after the other."""

    kind = WORKFLOW_KIND
    trigger, schedule, stop, see = "manage", "manage", "manage", "see"
    private_errors = True
    reloads = False

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the data products, their tables and their sources."""
        found = [uid]
        for product in WORKFLOW.parse(resource_metadata.load(ctx, uid).settings).products:
            found += [product, *list_tables(ctx, product).values(), *edge_targets(ctx, product, _SOURCES)]
        return list(dict.fromkeys(found))

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the steps: each source once, then each data product."""
        refuse_backfill(options, WORKFLOW.label)
        ctx.need(self.trigger, uid)
        settings = WORKFLOW.parse(resource_metadata.load(ctx, uid).settings)
        if not settings.products:
            raise ConflictError(f"The {describe_resource(ctx.view, uid)} has no data product.", "Choose one.")
        refreshed: dict[str, Step] = {}
        found: list[Step] = []
        for product in settings.products:
            name = _name(ctx, product)
            sources = edge_targets(ctx, product, _SOURCES)
            refreshed |= {
                each: replace(refresh_step(ctx, each), name=f"refresh {_name(ctx, each)}")
                for each in sources
                if settings.refresh
            }
            steps = [*version_steps(ctx, product, full=False)]
            steps += publish_steps(ctx, product) if settings.publish else []
            found += [replace(step, name=f"{name}: {step.name}") for step in steps]
        return [*refreshed.values(), *found]

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return what says which rows a source reads, or which data products are run.

        Whoever made the workflow has not thereby read what a source says: its own author answers for that.
        """
        return parts_of(SOURCE_KIND, step.source) if isinstance(step, RefreshSource) else parts_of(self.kind, uid)

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step that the caller could not do without the workflow."""
        del uid
        match step:
            case RefreshSource():
                ProductSourcePipeline().need_step(ctx, step.source, step)
            case ProductStep():
                ProductPipeline().need_step(ctx, step.product, step)


def _name(ctx: RequestContext, uid: str) -> str:
    return ctx.view.names.get(ctx.view.resource(uid)) or uid


class _TableUpkeep(Runnable):
    """Keeps up a table that runs have made, which changes no row."""

    trigger, schedule, stop, see = "read", "read", "read", "see"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the table."""
        del ctx
        return [uid]

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the steps of its upkeep; its rows come from its data product."""
        if not is_upkeep(options) or ctx.caller.member:
            raise ConflictError("This table is filled by its data product.", "Run the data product.")
        return upkeep_steps(uid)

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return nothing: nobody defines it."""
        del uid, step
        return ()

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse nobody: the platform alone starts it."""


class RecordTableUpkeep(_TableUpkeep):
    """The upkeep of a record table."""

    kind = RECORD_TABLE_KIND


class EntityTableUpkeep(_TableUpkeep):
    """The upkeep of an entity table."""

    kind = ENTITY_TABLE_KIND


RUNNABLES: Sequence[Runnable] = (
    ProductSourcePipeline(),
    ProductPipeline(),
    WorkflowPipeline(),
    RecordTableUpkeep(),
    EntityTableUpkeep(),
)
