"""The network policy of a tenant: where it is kept, and the check of settings and credentials before they are saved.

It is a setting of the tenant itself, beside none so far. Those who may see the tenant's settings change it; a narrowed
token does not, whatever it may do.
"""

import json
from collections.abc import Mapping

from lakehold.access.model.policy import TENANT
from lakehold.catalog import resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.database import TenantRows, Transaction
from lakehold.kit.errors import ForbiddenError, InvalidInputError, at_field
from lakehold.kit.ids import quote
from lakehold.kit.network_policy import ALLOW_ALL, SCHEMA, NetworkPolicy, NetworkPolicyError
from lakehold.workspaces import registry

SETTING = "network_policy"
"""The setting of the tenant that it is kept in."""
RIGHT = "see_settings"
"""The action of the tenant that Owners and Admins have."""


def load(ctx: RequestContext) -> NetworkPolicy:
    """Return the policy, for the platform's own use."""
    return load_of_tenant(ctx.session.transaction, ctx.session.tenant)


def load_of_tenant(transaction: Transaction, tenant: int) -> NetworkPolicy:
    """Return the policy of the tenant with this number."""
    c = resource_metadata.detail_table.c
    rows = TenantRows(transaction, tenant, resource_metadata.detail_table)
    text = rows.select(c.resource_id == tenant, columns=(c.settings,)).scalar()
    stored = json.loads(text).get(SETTING) if text else None
    return SCHEMA.parse(stored) if stored else ALLOW_ALL


def get(ctx: RequestContext) -> NetworkPolicy:
    """Return the policy, for those who may see the settings of the tenant."""
    ctx.need(RIGHT, ctx.caller.tenant)
    return load(ctx)


def version(ctx: RequestContext) -> int:
    """Return the version of the tenant's settings."""
    return resource_metadata.load(ctx, ctx.caller.tenant).version


def save(ctx: RequestContext, policy: NetworkPolicy, *, expect_version: int | None = None) -> None:
    """Set the policy. It holds from the next connection on, also for what has been saved before."""
    ctx.need_writable()
    before, tenant = get(ctx), ctx.caller.tenant
    if ctx.caller.narrowed is not None and ctx.caller.narrowed.is_narrowed:
        message = "A narrowed token cannot change the network policy."
        raise ForbiddenError(message, "Sign in, or use a token that is not narrowed.")
    resource_metadata.need_version(ctx, tenant, expect_version)
    if policy == before:
        return
    kept = {name: value for name, value in resource_metadata.load(ctx, tenant).settings.items() if name != SETTING}
    found = policy.to_json()
    resource_metadata.save(ctx, tenant, settings=kept if policy.is_open else {**kept, SETTING: found})
    ctx.note("set network policy", tenant, before=before.to_json(), after=found)


def save_tenant_settings(ctx: RequestContext, settings: Mapping[str, object]) -> None:
    """Set all settings of the tenant, as files have them; refuse one that there is not."""
    for name in settings.keys() - {SETTING}:
        raise InvalidInputError(f"The tenant has no setting {quote(name)}.", f"It has: {SETTING}.", field=name)
    stored = settings.get(SETTING) or {}
    if not isinstance(stored, Mapping):
        raise InvalidInputError("The network policy must be a mapping.", "Write {destination_hosts: […]}.")
    with at_field(SETTING):
        save(ctx, SCHEMA.parse(stored))


def need_allowed(
    ctx: RequestContext, kind: str, settings: Mapping[str, object], secrets: Mapping[str, str] | None = None
) -> None:
    """Refuse settings, or secrets that belong to them, that lead where the policy does not allow."""
    for problem in find_problems(load(ctx), kind, settings, secrets or {}):
        raise problem


def find_problems(
    policy: NetworkPolicy, kind: str, settings: Mapping[str, object], secrets: Mapping[str, str]
) -> list[NetworkPolicyError]:
    """Return what a policy has against the settings of a resource; nothing for settings that cannot be used anyway."""
    schema = None if policy.is_open or kind == TENANT else registry.find_settings_schema(kind)
    return list(policy.problems(schema.network_targets(settings, secrets))) if schema is not None else []
