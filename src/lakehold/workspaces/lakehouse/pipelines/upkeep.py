"""What keeps up a table: its files, the versions that it had, the descriptions of its fields. Each is a run of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakehold.directory.work import Work
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.runnable import Step, Wanted
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.lakehouse.pipelines.pipeline import TABLE
from lakehold.workspaces.lakehouse.steps import Describe, Restore, Rollback, Upkeep

DO = "do"
UPKEEP, ROLLBACK, DESCRIBE, RESTORE = "upkeep", "rollback", "describe", "restore"
REJECTED = "_rejected"
"""What the name of the table ends in that a stream's bad rows are kept in."""
_RIGHTS = {UPKEEP: "write", ROLLBACK: "rollback", DESCRIBE: "edit", RESTORE: "write"}
_PARTS = ("compact", "expire", "sweep")


def right(wanted: Wanted) -> str:
    """The action that it asks for; empty for a run that is nothing of this."""
    return _RIGHTS.get(str(wanted.parameters.get(DO, "")), "")


def locks(work: Work, uid: str) -> list[str]:
    """The table; its layer, in which others may be making it; and the table whose bad rows it keeps."""
    layer = ends(work, uid, "layer")
    name = work.view.names.get(work.view.resource(uid)) or ""
    if not name.endswith(REJECTED):
        return [uid, *layer]
    near = (each for above in layer for each in starts(work, above, "layer"))
    wanted = name.removesuffix(REJECTED)
    beside = [
        each for each in near if work.view.names.get(work.view.resource(each)) == wanted and _is_table(work, each)
    ]
    return [uid, *layer, *beside]


def steps(work: Work, uid: str, wanted: Wanted) -> Sequence[Step]:
    """What is to be done. Only files are kept up without a person; all else is for whoever may."""
    do, told = str(wanted.parameters[DO]), wanted.parameters
    if do == UPKEEP and not work.caller.member:
        return [Upkeep(name=part, writes=(uid,), table=uid, part=part) for part in _PARTS]
    work.need(_RIGHTS[do], uid)
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


def _is_table(work: Work, uid: str) -> bool:
    return work.view.kind(work.view.resource(uid)) == TABLE
