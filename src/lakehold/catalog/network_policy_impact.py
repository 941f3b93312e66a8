"""The resources that a network policy refuses: listed before it is saved, and as long as it holds."""

from dataclasses import dataclass

from lakehold.catalog import credentials, network_policy, resource_metadata
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.kit.network_policy import NetworkPolicy, PolicyList
from lakehold.workspaces import registry


@dataclass(frozen=True, slots=True)
class RefusedResource:
    """A resource that leads to a host or mail domain which a policy does not allow."""

    resource: ResourceRef
    workspace: ResourceRef | None
    list: PolicyList
    field: str
    host: str
    """Empty if it cannot be told from the settings."""


def find_refused(ctx: RequestContext, policy: NetworkPolicy) -> list[RefusedResource]:
    """Return what a policy refuses of all that the caller sees, for those who may see the tenant's settings."""
    ctx.need(network_policy.RIGHT, ctx.caller.tenant)
    if policy.is_open:
        return []
    schemas = registry.settings_schemas()
    kind_of = ctx.session.read_view(
        lambda view: {number: kind for kind in schemas for number in view.by_kind.get(kind) or ()}
    )
    stored, secrets = resource_metadata.load_many(ctx, kind_of), credentials.load_addresses(ctx, kind_of)
    visible, found = VisibleRefs(ctx), dict[RefusedResource, None]()
    for number, detail in stored.items():
        targets = schemas[kind_of[number]].network_targets(detail.settings, secrets.get(number, {}))
        for each in policy.refused(targets):
            uid = ctx.view.uid(number)
            if (ref := visible.ref(uid)) is not None:
                # Several receivers of one domain are one.
                field = each.field.partition(".")[0]
                found[RefusedResource(ref, visible.workspace(uid), each.list, field, each.host)] = None
    return sorted(found, key=lambda each: (fold_name(each.resource.name), each.resource.uid, each.field, each.host))
