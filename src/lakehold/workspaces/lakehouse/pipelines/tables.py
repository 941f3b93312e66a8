"""Pipelines that write tables: queries, histories, saved results; and the maintenance of tables."""

from collections.abc import Mapping, Sequence

from lakehold.catalog import kinds, resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.runs.runnable import DefinitionPart, RunOptions, Step, refuse_backfill
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.lakehouse import steps
from lakehold.workspaces.lakehouse.pipelines.base import TABLE_KIND, LakehousePipeline, readable_inputs
from lakehold.workspaces.lakehouse.settings import HISTORY, QUERY, TABLE, QuerySettings
from lakehold.workspaces.upkeep import TASK_PARAMETER, UPKEEP, upkeep_steps


class HistoryPipeline(LakehousePipeline):
    """Keeps every state of each row of a table (SCD2)."""

    kind = "lakehouse.history"

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step that updates the history. A reload does not discard earlier states."""
        refuse_backfill(options, self.label)
        settings = HISTORY.parse(resource_metadata.load(ctx, uid).settings)
        reads = readable_inputs(ctx, uid)
        if len(reads) != 1:
            raise ConflictError(
                f"The history {quote(uid)} reads {'no table' if not reads else 'several tables'}.", "Let it read one."
            )
        into = self.output_target(ctx, uid, settings.table)
        if into.target == reads[0]:
            raise ConflictError("A history is kept in a table of its own.", "Let it write another table.")
        step = steps.UpdateHistory(
            name="history",
            reads=reads,
            writes=(into.target,),
            source=reads[0],
            into=into,
            keys=settings.keys,
            at=settings.at,
            track=settings.track,
            ignore=settings.ignore,
            last_by=settings.last_by,
            closes_missing=settings.closes_missing,
        )
        return [step]


class QueryPipeline(LakehousePipeline):
    """Writes the rows of a query into a table."""

    kind = "lakehouse.query"

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step that writes the rows. A reload replaces them all."""
        settings, view = QUERY.parse(resource_metadata.load(ctx, uid).settings), ctx.view
        reads = readable_inputs(ctx, uid)
        into = self.output_target(ctx, uid, settings.table)
        chosen = (
            steps.WriteOptions(evolution=settings.evolution)
            if options.reload
            else steps.WriteOptions(
                mode=settings.mode,
                keys=settings.keys,
                evolution=settings.evolution,
                partitioned_by=settings.partitioned_by,
            )
        )
        cursor = _backfill_cursor(settings) if options.span else ""
        workspace = view.names.get(view.resource(kinds.workspace_of(view, uid) or uid)) or ""
        step = steps.MaterialiseQuery(
            name="query",
            reads=reads,
            writes=(into.target,),
            workspace=workspace,
            sql=settings.sql,
            into=into,
            how=chosen,
            cursor=cursor,
            span=options.span,
        )
        return [step]


def _backfill_cursor(settings: QuerySettings) -> str:
    """Return the field that a backfill is limited by; refused where a part of the rows has no meaning."""
    if not settings.cursor:
        raise ConflictError(
            "The query names no cursor, so it cannot be backfilled.", "Set cursor to a field of its rows, or reload it."
        )
    if settings.mode == "mirror":
        raise ConflictError("A query in mirror mode returns all of its rows each time.", "Run it as a whole.")
    return settings.cursor


ROLLBACK, DESCRIBE = "rollback", "describe"
REJECTED_SUFFIX = "_rejected"
"""The end of the name of the table that keeps a stream's rejected rows."""
_MAINTENANCE_ACTIONS = {UPKEEP: "write", ROLLBACK: "rollback", DESCRIBE: "edit"}


def maintenance_action(options: RunOptions) -> str:
    """Return the action that the maintenance needs; empty for a run that is no maintenance."""
    return _MAINTENANCE_ACTIONS.get(str(options.parameters.get(TASK_PARAMETER, "")), "")


def maintenance_locks(ctx: RequestContext, uid: str) -> list[str]:
    """Return the table, its layer, in which others may be creating it, and the table whose rejected rows it holds."""
    layer = edge_targets(ctx, uid, "layer")
    name = ctx.view.names.get(ctx.view.resource(uid)) or ""
    if not name.endswith(REJECTED_SUFFIX):
        return [uid, *layer]
    near = (each for above in layer for each in edge_sources(ctx, above, "layer"))
    base_name = name.removesuffix(REJECTED_SUFFIX)
    named = [each for each in near if ctx.view.names.get(ctx.view.resource(each)) == base_name]
    return [uid, *layer, *(each for each in named if ctx.view.kind(ctx.view.resource(each)) == TABLE_KIND)]


def maintenance_steps(ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
    """Return the steps of the maintenance. Only file maintenance runs without a member; all else needs a right."""
    task, parameters = str(options.parameters[TASK_PARAMETER]), options.parameters
    if task != UPKEEP or ctx.caller.member:
        ctx.need(_MAINTENANCE_ACTIONS[task], uid)
    match task:
        case "rollback":
            snapshot = _number_parameter(parameters, "snapshot")
            return [steps.RollBackTable(name=task, writes=(uid,), table=uid, snapshot=snapshot)]
        case "describe":
            return [steps.DescribeFields(name=task, writes=(uid,), table=uid, fields=_fields_parameter(parameters))]
        case _:
            return upkeep_steps(uid)


def _number_parameter(parameters: Mapping[str, object], name: str) -> int:
    found = parameters.get(name)
    if not isinstance(found, int):
        raise InvalidInputError(f"The run has no {name}.", "Start it again.")
    return found


def _fields_parameter(parameters: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    found = parameters.get("fields")
    if not isinstance(found, Mapping):
        raise InvalidInputError("The run has no fields.", "Start it again.")
    return tuple((str(name), str(text)) for name, text in found.items())


class SavedTablePipeline(LakehousePipeline):
    """A table: written again from the query whose result it is, and maintained."""

    kind = TABLE_KIND
    trigger, stop = "write", "write"

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the table itself."""
        del ctx
        return [uid]

    def start_action(self, options: RunOptions) -> str:
        """Return the action of the maintenance, or the one to write the table."""
        return maintenance_action(options) or self.trigger

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return the table with its query; nothing for maintenance, which executes no definition."""
        return super().definition(uid, step) if isinstance(step, steps.MaterialiseQuery) else ()

    def locks(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[str]:
        """Return the table itself; for maintenance also everything whose writes may have files in progress."""
        return maintenance_locks(ctx, uid) if maintenance_action(options) else self.outputs(ctx, uid)

    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse the query as others are; maintenance needs no more than the right to start it."""
        if isinstance(step, steps.MaterialiseQuery):
            super().need_step(ctx, uid, step)

    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return one step that replaces the rows by those of the query, or the steps of its maintenance."""
        if maintenance_action(options):
            return maintenance_steps(ctx, uid, options)
        refuse_backfill(options, self.label)
        sql, view = TABLE.parse(resource_metadata.load(ctx, uid).settings).sql, ctx.view
        if not sql:
            raise ConflictError(
                f"The table {quote(uid)} is not the result of a query.", "Run the source or the query that writes it."
            )
        ctx.need("write", uid)
        step = steps.MaterialiseQuery(
            name="query",
            reads=readable_inputs(ctx, uid, "saved_from"),
            writes=(uid,),
            workspace=view.names.get(view.resource(kinds.workspace_of(view, uid) or uid)) or "",
            sql=sql,
            into=steps.OutputTarget(pipeline=uid, target=uid),
            how=steps.WriteOptions(evolution="overwrite"),
        )
        return [step]
