"""Who may do what with what. Of others it is told to who may ask about others; everybody may ask about themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet

from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.runs import sight
from lakehold.runs.system.known import ACCESS, texts
from lakehold.runs.warm import Warm


class _Seen(NamedTuple):
    """Something that the asker may know of."""

    resource: str
    resource_name: str
    workspace: str | None


def write(warm: Warm, ctx: RequestContext, folder: Path) -> list[str]:
    """About what the asker may know of, and nothing else."""
    if ctx.session.check(ctx.asker, "ask_about_others", ctx.caller.tenant):
        return _of_all(warm, ctx, folder)
    return _own(ctx, folder)


def _of_all(warm: Warm, ctx: RequestContext, folder: Path) -> list[str]:
    from lakehold.access.review.review import AccessReview  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

    spark = warm.spark
    seen = pa.Table.from_pylist([each._asdict() for each in _seen(ctx)], pa.schema(texts(_Seen._fields)))
    members = ctx.session.read_view(
        lambda view: [{"member": view.uid(each), "member_name": view.names.get(each)} for each in view.members]
    )
    named = spark.createDataFrame(pa.Table.from_pylist(members, pa.schema(texts(("member", "member_name")))))
    review = ctx.session.read_view(lambda view: AccessReview(spark, view))
    rows = review.rows().join(spark.createDataFrame(seen), "resource").join(named, "member")
    rows.select(*ACCESS.names).write.parquet(str(folder / "parts"))
    return [str(file) for file in sorted((folder / "parts").glob("*.parquet"))] or [_empty(folder)]


def _own(ctx: RequestContext, folder: Path) -> list[str]:
    view, member = ctx.view, ctx.caller.member
    own = {"member": member, "member_name": view.names.get(view.resource(member))}
    rows = [
        {**own, **seen._asdict(), "kind": view.kind(view.resource(seen.resource)), "action": action}
        for seen in _seen(ctx)
        for action in ctx.session.actions(ctx.asker, seen.resource)
    ]
    file = folder / "own.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, ACCESS), file)
    return [str(file)]


def _seen(ctx: RequestContext) -> Iterator[_Seen]:
    view = ctx.view
    for uid in sight.seen(ctx):
        workspace = kinds.workspace_of(view, uid)
        shown = workspace if workspace is not None and ctx.session.can_see(ctx.asker, workspace) else None
        yield _Seen(uid, view.names.get(view.resource(uid)) or uid, shown)


def _empty(folder: Path) -> str:
    file = folder / "none.parquet"
    pyarrow.parquet.write_table(ACCESS.empty_table(), file)
    return str(file)
