"""The schemas of the system tables, and which tables and resources a caller may see in them."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from lakehold.access.facts.view import FactView
from lakehold.directory.request_context import RequestContext

SEE_AUDIT = "see_audit"
_TIMESTAMP = pa.timestamp("us", "UTC")
_ICEBERG_TYPES = {
    pa.int32(): "int",
    pa.int64(): "long",
    pa.bool_(): "boolean",
    pa.string(): "string",
    _TIMESTAMP: "timestamptz",
}


def text_fields(names: Iterable[str]) -> list[tuple[str, pa.DataType]]:
    """Return fields of type string with these names."""
    return [(name, pa.string()) for name in names]


ACCESS_SCHEMA = pa.schema(
    text_fields(("member", "member_name", "workspace", "resource", "resource_name", "kind", "action"))
)
RUNS_SCHEMA = pa.schema(
    [
        *text_fields(
            ("id", "workspace", "resource", "name", "kind", "state", "cause", "cause_kind", "started_by", "error")
        ),
        ("tries", pa.int32()),
        ("reload", pa.bool_()),
        *((name, _TIMESTAMP) for name in ("made_at", "started_at", "ended_at")),
        *((name, pa.int64()) for name in ("rows", "size", "bad")),
    ]
)
AUDIT_SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("at", _TIMESTAMP),
        *text_fields(("member", "member_name", "action", "resource", "resource_name", "kind", "outcome", "reason")),
        *text_fields(("token", "viewing_as", "request", "address", "before", "after")),
    ]
)


def visible_tables(ctx: RequestContext) -> Mapping[str, pa.Schema]:
    """Return the schemas of the caller's system tables by name."""
    found = {"access": ACCESS_SCHEMA, "runs": RUNS_SCHEMA}
    if ctx.session.check(ctx.principal, SEE_AUDIT, ctx.caller.tenant):
        found |= {"audit": AUDIT_SCHEMA, "reads": AUDIT_SCHEMA}
    return found


def iceberg_fields(schema: pa.Schema) -> list[tuple[str, str]]:
    """Return each field with the name of its Iceberg type."""
    return [(field.name, _ICEBERG_TYPES[field.type]) for field in schema]


def visible_resources(ctx: RequestContext, kinds: Iterable[str] | None = None) -> Iterator[str]:
    """Yield the ids of the resources that the caller sees: of all kinds, or of some."""

    def uids(view: FactView) -> list[str]:
        selected_kinds = view.policy.kinds if kinds is None else kinds
        return [view.uid(number) for kind in selected_kinds for number in view.by_kind.get(kind) or ()]

    return (uid for uid in ctx.session.read_view(uids) if ctx.session.can_see(ctx.principal, uid))
