"""Who may do what with what. Of others it is told to who may ask about others; everybody may ask about themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet

from lakehold.catalog import kinds
from lakehold.directory.work import Work
from lakehold.runs import sight
from lakehold.runs.system.known import ACCESS, texts
from lakehold.runs.warm import Warm


class _Seen(NamedTuple):
    """Something that the asker may know of."""

    resource: str
    resource_name: str
    workspace: str | None


def write(warm: Warm, work: Work, folder: Path) -> list[str]:
    """About what the asker may know of, and nothing else."""
    if work.session.check(work.asker, "ask_about_others", work.caller.tenant):
        return _of_all(warm, work, folder)
    return _own(work, folder)


def _of_all(warm: Warm, work: Work, folder: Path) -> list[str]:
    from lakehold.access.review.review import Review  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

    spark = warm.spark
    seen = pa.Table.from_pylist([each._asdict() for each in _seen(work)], pa.schema(texts(_Seen._fields)))
    members = work.session.asking(
        lambda view: [{"member": view.uid(each), "member_name": view.names.get(each)} for each in view.members]
    )
    named = spark.createDataFrame(pa.Table.from_pylist(members, pa.schema(texts(("member", "member_name")))))
    review = work.session.asking(lambda view: Review(spark, view))
    rows = review.rows().join(spark.createDataFrame(seen), "resource").join(named, "member")
    rows.select(*ACCESS.names).write.parquet(str(folder / "parts"))
    return [str(file) for file in sorted((folder / "parts").glob("*.parquet"))] or [_empty(folder)]


def _own(work: Work, folder: Path) -> list[str]:
    view, member = work.view, work.caller.member
    own = {"member": member, "member_name": view.names.get(view.resource(member))}
    rows = [
        {**own, **seen._asdict(), "kind": view.kind(view.resource(seen.resource)), "action": action}
        for seen in _seen(work)
        for action in work.session.actions(work.asker, seen.resource)
    ]
    file = folder / "own.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, ACCESS), file)
    return [str(file)]


def _seen(work: Work) -> Iterator[_Seen]:
    view = work.view
    for uid in sight.seen(work):
        workspace = kinds.workspace_of(view, uid)
        shown = workspace if workspace is not None and work.session.sees(work.asker, workspace) else None
        yield _Seen(uid, view.names.get(view.resource(uid)) or uid, shown)


def _empty(folder: Path) -> str:
    file = folder / "none.parquet"
    pyarrow.parquet.write_table(ACCESS.empty_table(), file)
    return str(file)
