"""Encrypted secrets of a resource: set by those who edit it, copied only by those who may, which is audited.

Their values are never in an answer but that of `copy`, never in a log, and never in an export.
"""

import json
from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from lakehold.access.facts.records import require_mapping
from lakehold.catalog import kinds, network_policy, resource_metadata
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit import secret_headers
from lakehold.kit.database import ExactText, IdType, TenantRows, Transaction, metadata
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import valid_id
from lakehold.kit.keys import KeyRing

credential_table = sa.Table(
    "credential",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("name", ExactText, primary_key=True),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("updated_at", IdType, nullable=False),
    sa.Column("updated_by", ExactText, nullable=False),
)

COPY = "copy_credentials"
ADDRESS = "address"
"""The secret of a destination that is its address."""
DESTINATION_SETTINGS = (ADDRESS, "driver", "properties")
"""The settings that say where secrets are sent."""
MAX_LENGTH = 20_000
_AT_ONCE = 500
_NOT_ENTERED = ""
"""In the place of a secret that has to be entered again."""
_HEADER = secret_headers.credential_name("")


def save(ctx: RequestContext, uid: str, secrets: Mapping[str, str | None]) -> None:
    """Set some of a resource's secrets; None deletes one."""
    ctx.need_writable()
    kinds.need_right(ctx, uid, "edit")
    given = require_mapping(secrets, "credentials").items()
    valid = {valid_id(name, "name of a credential"): _valid_secret(secret) for name, secret in given}
    _need_allowed(ctx, uid, {name: secret for name, secret in valid.items() if secret is not None})
    _put(ctx, uid, valid)
    if not set(secrets).isdisjoint(DESTINATION_SETTINGS):
        # Where rows are sent to is a part of what runs.
        resource_metadata.record_author(ctx, uid)
    ctx.note("set credentials", uid, after={"credentials": sorted(secrets)})


def _need_allowed(ctx: RequestContext, uid: str, secrets: Mapping[str, str]) -> None:
    """Refuse secrets that are addresses which the tenant's network policy does not allow."""
    policy, kind = network_policy.load(ctx), kinds.schema_of(ctx.view, uid).id
    for problem in network_policy.find_problems(policy, kind, resource_metadata.load(ctx, uid).settings, secrets):
        if problem.field in secrets:
            raise problem


def save_headers(ctx: RequestContext, uid: str, settings: Mapping[str, object], secrets: Mapping[str, str]) -> None:
    """Save the values of secret headers that came with settings, and delete those of headers that are gone."""
    stored = {name for name in _load(ctx, uid) if name.startswith(_HEADER)}
    gone = stored - secret_headers.credential_names(settings)
    changed = {**dict.fromkeys(gone), **{name: _valid_secret(value) for name, value in secrets.items()}}
    _put(ctx, uid, changed)
    if changed:
        ctx.note("set credentials", uid, after={"credentials": sorted(changed)})


def _put(ctx: RequestContext, uid: str, secrets: Mapping[str, str | None]) -> None:
    c, rows, number = credential_table.c, ctx.rows(credential_table), ctx.view.resource(uid)
    saved = {"resource_id": number, "updated_at": ctx.at, "updated_by": ctx.caller.member}
    for name, secret in secrets.items():
        rows.delete(c.resource_id == number, c.name == name)
        if secret is not None:
            rows.insert(name=name, secret=ctx.keys.encrypt(secret), **saved)


def protect_headers(platform: Platform) -> int:
    """Move secrets that earlier releases kept in the headers of settings to credentials, and return how many."""
    d, count = resource_metadata.detail_table.c, 0
    query = sa.select(d.tenant_id, d.resource_id, d.settings, d.updated_by).where(d.settings.contains('"headers"'))
    with platform.database.read() as transaction:
        found = [
            (row, *secret_headers.split_secrets(json.loads(row.settings)))
            for row in transaction.connection.execute(query)
        ]
    for row, masked, secrets in found:
        if not secrets:
            continue
        with platform.database.write() as transaction:
            details = TenantRows(transaction, row.tenant_id, resource_metadata.detail_table)
            same = (d.resource_id == row.resource_id, d.settings == row.settings)
            if not details.update(*same, settings=resource_metadata.valid_settings(masked)):
                # Another process has just done it, or somebody has saved it.
                continue
            rows, c = TenantRows(transaction, row.tenant_id, credential_table), credential_table.c
            for name, value in secrets.items():
                rows.delete(c.resource_id == row.resource_id, c.name == name)
                kept = {"secret": platform.keys.encrypt(value), "updated_at": platform.clock()}
                rows.insert(resource_id=row.resource_id, name=name, updated_by=row.updated_by, **kept)
        count += len(secrets)
    return count


def list_names(ctx: RequestContext, uid: str) -> list[str]:
    """Return the names of a resource's secrets, for those who may edit it or copy them."""
    ctx.need_visible(uid, "credentials")
    if not _may_copy(ctx, uid):
        kinds.need_right(ctx, uid, "edit")
    return sorted(_load(ctx, uid))


def copy(ctx: RequestContext, uid: str) -> dict[str, str]:
    """Return the secrets themselves. Needs a transaction that writes, because it is audited."""
    ctx.need_visible(uid, COPY)
    schema = kinds.schema_of(ctx.view, uid)
    if COPY not in schema.actions:
        raise InvalidInputError(f"The credentials of a {schema.title.lower()} cannot be copied.", "Set new ones.")
    # An impersonator sees what the member may do, not their secrets.
    ctx.need_writable()
    ctx.need(COPY, uid)
    found = load_for_use(ctx, uid)
    ctx.note(COPY, uid, after={"credentials": sorted(found)})
    return found


def load_for_use(ctx: RequestContext, uid: str) -> dict[str, str]:
    """Return the secrets for the platform's own use, in an action that the caller may do. Never for an answer."""
    return {name: ctx.keys.decrypt(secret) for name, secret in _load(ctx, uid).items()}


def load_for_step(ctx: RequestContext, uid: str, settings: Mapping[str, object]) -> dict[str, str]:
    """Return the secrets for a step that was planned with these settings; refused if they belong to another place."""
    present, found = resource_metadata.load(ctx, uid).settings, load_for_use(ctx, uid)
    if found and not _is_same_destination(present, settings):
        raise ConflictError("The connection was changed after the run had begun.", "Start a new run.")
    return found


def load_for_test(ctx: RequestContext, uid: str, settings: Mapping[str, object]) -> dict[str, str]:
    """Return the secrets for a test of these settings; none if they would be sent to another destination."""
    present = resource_metadata.load(ctx, uid).settings
    return load_for_use(ctx, uid) if _destination_unchanged(ctx, uid, present, settings) else {}


def drop_if_redirected(
    ctx: RequestContext, uid: str, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    """Delete the secrets if new settings send them elsewhere, so that an editor cannot get at them that way."""
    if not _destination_unchanged(ctx, uid, before, after) and (found := _load(ctx, uid)):
        delete_all(ctx, ctx.view.resource(uid))
        ctx.note("forget credentials", uid, before={"credentials": sorted(found)})


def delete_all(ctx: RequestContext, number: int) -> None:
    """Delete all secrets of a deleted resource."""
    ctx.rows(credential_table).delete(credential_table.c.resource_id == number)


def reencrypt(transaction: Transaction, keys: KeyRing) -> int:
    """Encrypt all secrets of all tenants with the newest key, and return their number."""
    c = credential_table.c
    last: tuple[int, int, str] = (0, 0, "")
    count = 0
    while True:
        place = sa.tuple_(c.tenant_id, c.resource_id, c.name)
        query = (
            sa.select(c.tenant_id, c.resource_id, c.name, c.secret)
            .where(c.secret != _NOT_ENTERED, place > sa.tuple_(*(sa.literal(part) for part in last)))
            .order_by(c.tenant_id, c.resource_id, c.name)
            .limit(_AT_ONCE)
        )
        rows = transaction.connection.execute(query).all()
        for tenant, resource, name, secret in rows:
            rows_of_tenant = TenantRows(transaction, tenant, credential_table)
            rows_of_tenant.update(c.resource_id == resource, c.name == name, secret=keys.reencrypt(secret))
            last = (tenant, resource, name)
        count += len(rows)
        if len(rows) < _AT_ONCE:
            return count


def _destination_unchanged(
    ctx: RequestContext, uid: str, before: Mapping[str, object], after: Mapping[str, object]
) -> bool:
    """Whether the secrets go to the same destination, or the caller may copy them anyway."""
    return _is_same_destination(before, after) or _may_copy(ctx, uid)


def _is_same_destination(before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Whether settings lead to the same place; one that is empty is the same as one that is not there."""
    return all((before.get(name) or None) == (after.get(name) or None) for name in DESTINATION_SETTINGS)


def _may_copy(ctx: RequestContext, uid: str) -> bool:
    return COPY in kinds.schema_of(ctx.view, uid).actions and ctx.session.check(ctx.principal, COPY, uid)


def load_addresses(ctx: RequestContext, numbers: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return the secrets of many resources that are addresses, by number, for the platform's own use."""
    c, ids, found = credential_table.c, list(numbers), dict[int, dict[str, str]]()
    for start in range(0, len(ids), _AT_ONCE):
        some = c.resource_id.in_(ids[start : start + _AT_ONCE])
        for row in ctx.rows(credential_table).select(some, c.name == ADDRESS, c.secret != _NOT_ENTERED):
            found[row.resource_id] = {ADDRESS: ctx.keys.decrypt(row.secret)}
    return found


def _load(ctx: RequestContext, uid: str) -> dict[str, str]:
    c = credential_table.c
    found = ctx.rows(credential_table).select(c.resource_id == ctx.view.resource(uid), c.secret != _NOT_ENTERED)
    return {row.name: row.secret for row in found}


def expect(ctx: RequestContext, uid: str, names: Iterable[str]) -> None:
    """Record which secrets a resource is to have, as an export names them. They have to be entered again."""
    rows, number = ctx.rows(credential_table), ctx.view.resource(uid)
    known = set(rows.select(credential_table.c.resource_id == number, columns=(credential_table.c.name,)).scalars())
    for name in sorted({valid_id(each, "name of a credential") for each in names} - known):
        saved = {"resource_id": number, "updated_at": ctx.at, "updated_by": ctx.caller.member}
        rows.insert(name=name, secret=_NOT_ENTERED, **saved)


def load_all_names(ctx: RequestContext, *, missing: bool = False) -> dict[str, list[str]]:
    """Return the names of all secrets by resource, or of those to be entered, for those who may export the tenant."""
    ctx.need("export", ctx.caller.tenant)
    c, found = credential_table.c, dict[str, list[str]]()
    which = [c.secret == _NOT_ENTERED] if missing else []
    for row in ctx.rows(credential_table).select(*which, order_by=(c.resource_id, c.name)):
        if (uid := ctx.view.uids.get(row.resource_id)) is not None:
            found.setdefault(uid, []).append(row.name)
    return found


def _valid_secret(secret: object) -> str | None:
    if secret is None:
        return None
    if not isinstance(secret, str) or not secret:
        raise InvalidInputError("A credential must be a text that is not empty.", "Use null to remove one.")
    if len(secret) > MAX_LENGTH:
        raise InvalidInputError(f"A credential has {len(secret):,} characters.", f"Use at most {MAX_LENGTH:,}.")
    if not resource_metadata.is_unicode(secret):
        raise InvalidInputError("A credential cannot be written as UTF-8.", "Use characters.")
    return secret
