"""Which tables there are to somebody, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from lakehold.directory.request_context import RequestContext

SEE_AUDIT = "see_audit"
_TIME = pa.timestamp("us", "UTC")
_NAMES = {pa.int32(): "int", pa.int64(): "long", pa.bool_(): "boolean", pa.string(): "string", _TIME: "timestamptz"}


def texts(names: Iterable[str]) -> list[tuple[str, pa.DataType]]:
    """Fields that are all texts."""
    return [(name, pa.string()) for name in names]


ACCESS = pa.schema(texts(("member", "member_name", "workspace", "resource", "resource_name", "kind", "action")))
RUNS = pa.schema(
    [
        *texts(("id", "workspace", "resource", "name", "kind", "state", "cause", "started_by", "error")),
        ("tries", pa.int32()),
        ("reload", pa.bool_()),
        *((name, _TIME) for name in ("made_at", "started_at", "ended_at")),
        *((name, pa.int64()) for name in ("rows", "size", "bad")),
    ]
)
AUDIT = pa.schema(
    [
        ("n", pa.int64()),
        ("at", _TIME),
        *texts(("member", "member_name", "action", "resource", "resource_name", "kind", "outcome", "reason")),
        *texts(("token", "viewing_as", "request", "address", "before", "after")),
    ]
)


def tables(ctx: RequestContext) -> Mapping[str, pa.Schema]:
    """By their names."""
    found = {"access": ACCESS, "runs": RUNS}
    if ctx.session.check(ctx.asker, SEE_AUDIT, ctx.caller.tenant):
        found["audit"] = AUDIT
    return found


def fields(schema: pa.Schema) -> list[tuple[str, str]]:
    """Each field with its type, as Iceberg calls it."""
    return [(field.name, _NAMES[field.type]) for field in schema]
