"""What keeps up a table: its files, the versions that it had, the descriptions of its fields. Each is a run of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.runnable import RunOptions, Step
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.lakehouse.steps import Describe, Restore, Rollback, Upkeep

DO = "do"
UPKEEP, ROLLBACK, DESCRIBE, RESTORE = "upkeep", "rollback", "describe", "restore"
REJECTED = "_rejected"
"""What the name of the table ends in that a stream's bad rows are kept in."""
_RIGHTS = {UPKEEP: "write", ROLLBACK: "rollback", DESCRIBE: "edit", RESTORE: "write"}
_PARTS = ("compact", "expire", "sweep")


def right(wanted: RunOptions) -> str:
    """The action that it asks for; empty for a run that is nothing of this."""
    return _RIGHTS.get(str(wanted.parameters.get(DO, "")), "")


def locks(ctx: RequestContext, uid: str) -> list[str]:
    """The table; its layer, in which others may be making it; and the table whose bad rows it keeps."""
    layer = ends(ctx, uid, "layer")
    name = ctx.view.names.get(ctx.view.resource(uid)) or ""
    if not name.endswith(REJECTED):
        return [uid, *layer]
    near = (each for above in layer for each in starts(ctx, above, "layer"))
    wanted = name.removesuffix(REJECTED)
    beside = [each for each in near if ctx.view.names.get(ctx.view.resource(each)) == wanted and _is_table(ctx, each)]
    return [uid, *layer, *beside]


def steps(ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
    """What is to be done. Only files are kept up without a person; all else is for whoever may."""
    do, told = str(wanted.parameters[DO]), wanted.parameters
    if do == UPKEEP and not ctx.caller.member:
        return [Upkeep(name=part, writes=(uid,), table=uid, part=part) for part in _PARTS]
    ctx.need(_RIGHTS[do], uid)
    match do:
        case "rollback":
            return [Rollback(name=do, writes=(uid,), table=uid, snapshot=_number(told, "snapshot"))]
        case "describe":
            return [Describe(name=do, writes=(uid,), table=uid, fields=_fields(told))]
        case "restore":
            return [Restore(name=do, writes=(uid,), table=uid, number=_number(told, "number"))]
        case _:
            return [Upkeep(name=part, writes=(uid,), table=uid, part=part) for part in _PARTS]


def _number(told: Mapping[str, object], name: str) -> int:
    found = told.get(name)
    if not isinstance(found, int):
        raise InvalidInputError(f"The run has no {name}.", "Start it anew.")
    return found


def _fields(told: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    found = told.get("fields")
    if not isinstance(found, Mapping):
        raise InvalidInputError("The run has no fields.", "Start it anew.")
    return tuple((str(name), str(text)) for name, text in found.items())


def _is_table(ctx: RequestContext, uid: str) -> bool:
    return ctx.view.kind(ctx.view.resource(uid)) == TABLE
