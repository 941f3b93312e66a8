"""Live destinations: nothing is sent there; BI tools pull their reports over HTTP with the secret of the destination.

Those who may edit a destination create, rotate or revoke its secret, which is displayed once and stored as a hash.
Failed attempts are throttled, and the answer does not say what was wrong. A report is pulled as the author of its
definition, and needs the rights of whoever created the secret too, both at this moment; pulls are recorded for ninety
days.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from lakehold.access.facts.descriptions import humanize

# past the access filter: the tenant is known by the secret, and found here
from lakehold.access.facts.tables import resource
from lakehold.catalog import kinds, resource_edit, resource_metadata
from lakehold.catalog.resource_metadata import DefinitionAuthor
from lakehold.directory import secret_tokens, throttle
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, FOREVER, Moment
from lakehold.kit.database import ExactText, IdType, metadata
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.ledger.audit import DENIED
from lakehold.runs import stored_results
from lakehold.runs.authors import load_authors, need_authors
from lakehold.runs.scheduler.housekeeping import PeriodicTask
from lakehold.runs.worker_client import ReadPurpose
from lakehold.workspaces.graph import edge_sources, edge_targets, need_kind
from lakehold.workspaces.marts import reports
from lakehold.workspaces.marts.pipelines import is_deleted, joined_marts, mart_of, need_published, report_parts
from lakehold.workspaces.marts.report_settings import REPORT
from lakehold.workspaces.marts.settings import DESTINATION_KIND, LIVE_TYPE, REPORT_KIND

live_secret_table = sa.Table(
    "live_secret",
    metadata,
    sa.Column("tenant_id", IdType, primary_key=True),
    # The destination.
    sa.Column("resource_id", IdType, primary_key=True),
    sa.Column("id", ExactText, nullable=False),
    # Empty if it was revoked: by its id it is still known whose it was.
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
    sa.Column("made_at", IdType, nullable=False),
    sa.Column("used_at", IdType, nullable=False),
)
sa.Index("live_secret_by_id", live_secret_table.c.id, unique=True)


@dataclass(frozen=True, slots=True)
class DestinationSecret:
    """The secret of a live destination."""

    id: str
    made_by: str
    made_at: Moment
    used_at: Moment
    """0 if it has not been used yet."""
    text: str = field(default="", repr=False)
    """Of a new one, which is never displayed again."""

    @property
    def prefix(self) -> str:
        """The beginning of its text, to recognise it by."""
        return f"{secret_tokens.LIVE}{self.id}"


def create_secret(ctx: RequestContext, uid: str) -> DestinationSecret:
    """Create a secret and invalidate the previous one."""
    ctx.need_writable()
    need_kind(ctx, uid, "edit", (DESTINATION_KIND,))
    if ctx.caller.narrowed:
        raise ForbiddenError("A narrowed token creates no secrets.", "Sign in, or use a token that is not narrowed.")
    if resource_metadata.load(ctx, uid).settings.get("to") != LIVE_TYPE:
        raise ConflictError(f"The destination {quote(uid)} is not live.", "Only live destinations have a secret.")
    before = _row(ctx, uid)
    fresh = secret_tokens.generate(secret_tokens.LIVE, "" if before is None else str(before.id))
    values = {"hash": fresh.hash, "made_by": ctx.caller.member, "made_at": ctx.at, "used_at": 0}
    if before is None:
        ctx.rows(live_secret_table).insert(resource_id=ctx.view.resource(uid), id=fresh.id, **values)
    else:
        ctx.rows(live_secret_table).update(_is_of(ctx, uid), **values)
    rotated = before is not None and before.hash
    ctx.note("rotate secret" if rotated else "make secret", uid, after={"secret": fresh.id})
    return DestinationSecret(fresh.id, ctx.caller.member, ctx.at, 0, fresh.text)


def revoke_secret(ctx: RequestContext, uid: str) -> None:
    """Revoke the secret at once."""
    ctx.need_writable()
    before = get_secret(ctx, uid)
    if before is None:
        raise ConflictError(f"The destination {quote(uid)} has no secret.", "There is nothing to revoke.")
    ctx.rows(live_secret_table).update(_is_of(ctx, uid), hash="")
    ctx.note("revoke secret", uid, before={"secret": before.id})


def get_secret(ctx: RequestContext, uid: str) -> DestinationSecret | None:
    """Return the secret of a destination, or None, for those who may edit it."""
    need_kind(ctx, uid, "edit", (DESTINATION_KIND,))
    row = _row(ctx, uid)
    return None if row is None or not row.hash else DestinationSecret(row.id, row.made_by, row.made_at, row.used_at)


def _row(ctx: RequestContext, uid: str) -> sa.Row[tuple[object, ...]] | None:
    return ctx.rows(live_secret_table).select(_is_of(ctx, uid)).one_or_none()


def _is_of(ctx: RequestContext, uid: str) -> sa.ColumnElement[bool]:
    return live_secret_table.c.resource_id == ctx.view.resource(uid)


_NOBODY = 0
"""Attempts are counted for no tenant: it is not known whose they would be."""


@dataclass(frozen=True, slots=True)
class LiveAccess:
    """An authenticated BI tool."""

    tenant: str
    destination: str
    secret: str
    """The id of the secret."""
    visit: ClientInfo


def authenticate(platform: Platform, destination: str, text: str, visit: ClientInfo) -> LiveAccess:
    """Authenticate a BI tool by its secret, or refuse."""
    given = secret_tokens.parse(secret_tokens.LIVE, text)
    found = _find_secret(platform, given.id) if given else None
    if given and found and given.matches(found.hash) and found.destination == destination:
        return LiveAccess(found.tenant, destination, given.id, visit)
    counted = throttle.attempt_keys(
        "live", f"{destination} {visit.address}", visit.address, throttle.ACCOUNT, throttle.ADDRESS
    )
    with platform.database.write("live") as transaction:
        throttle.count_attempt(transaction, _NOBODY, platform.clock(), counted)
    if given and found:
        with platform.write(visit.to_caller(found.tenant)) as ctx:
            ctx.note("pull", found.destination, after={"secret": given.id}, outcome=DENIED)
    raise UnauthorizedError("This secret is not valid here, or not any more.", "Ask for a new one.")


def _find_secret(platform: Platform, secret: str) -> sa.Row[Any, Any, Any] | None:
    """Return the hash of a secret with its destination and tenant."""
    kept, there, tenant = live_secret_table, resource.alias("d"), resource.alias("t")
    query = (
        sa.select(kept.c.hash, there.c.uid.label("destination"), tenant.c.uid.label("tenant"))
        .join(tenant, tenant.c.id == kept.c.tenant_id)
        .join(there, (there.c.id == kept.c.resource_id) & (there.c.tenant_id == kept.c.tenant_id))
        .where(kept.c.id == secret, there.c.until == FOREVER)
    )
    with platform.database.read() as transaction:
        return transaction.connection.execute(query).first()


@dataclass(frozen=True, slots=True)
class PullableReport:
    """A report that can be pulled, unless an error is given."""

    uid: str
    name: str
    refused: str
    """Why it cannot be pulled now; empty if it can."""


@dataclass(frozen=True, slots=True)
class ReportPull:
    """A pull that is allowed now."""

    caller: Caller
    purpose: ReadPurpose
    text: str
    at: Moment
    """The moment that relative dates start from."""
    tenant: int
    report: int
    destination: int


def pullable_reports(platform: Platform, access: LiveAccess, lake: IcebergCatalog) -> list[PullableReport]:
    """Return the reports of the destination by name."""
    with platform.read(access.visit.to_caller(access.tenant)) as ctx:
        _need_live(ctx, access.destination)
        found = edge_sources(ctx, access.destination, "destination")
        authors = {uid: resource_metadata.load_author(ctx, uid) for uid in found}
        names = {uid: _name(ctx, uid) for uid in found}
    reports = [PullableReport(uid, names[uid], _refusal(platform, access, lake, uid, authors[uid])) for uid in found]
    return sorted(reports, key=lambda each: each.name.casefold())


def begin_pull(
    platform: Platform, access: LiveAccess, lake: IcebergCatalog, report: str, *, at: Moment | None = None
) -> ReportPull:
    """Return an allowed pull with relative dates as of a moment; or raise why it is refused."""
    with platform.read(access.visit.to_caller(access.tenant)) as ctx:
        _need_live(ctx, access.destination)
        if not ctx.view.ids.get(report) or access.destination not in edge_targets(ctx, report, "destination"):
            raise NotFoundError(f"There is no report {quote(report)} here.", "Check the list of reports.")
        author = resource_metadata.load_author(ctx, report)
    with platform.read(_author_caller(access, author, report)) as ctx:
        moment = ctx.at if at is None else at
        text = _pull_sql(ctx, access, lake, report, moment)
        purpose = ReadPurpose("pull", report, {"destination": access.destination, "secret": access.secret})
        numbers = (ctx.view.resource(uid) for uid in (report, access.destination))
        return ReportPull(ctx.caller, purpose, text, moment, ctx.session.tenant, *numbers)


def _pull_sql(ctx: RequestContext, access: LiveAccess, lake: IcebergCatalog, report: str, at: Moment) -> str:
    """Return the query of the report if its author and the starter of pulls may do everything that it takes."""
    if ctx.view.ids.get(ctx.caller.member) is None:
        raise DeniedError(
            f"The member who last changed the report {quote(report)} was removed.",
            "Let somebody who may run it take it over.",
            action="run",
            resource=report,
        )
    mart = mart_of(ctx, report)
    marts = tuple(joined_marts(ctx, mart))
    _need_of_author(ctx, "run", report, report)
    for uid in (*marts, access.destination):
        _need_of_author(ctx, "use", uid, report)
        _need_of_starter(ctx, access, uid)

    def need_marts(ctx: RequestContext) -> None:
        for uid in marts:
            ctx.need("use", uid)

    need_authors(ctx, load_authors(ctx, report_parts(report, marts)), report, need_marts)
    need_published(ctx, mart)
    settings = REPORT.parse(resource_metadata.load(ctx, report).settings)
    return reports.report_statement(ctx, lake, settings, mart, at=at).sql


def _need_of_starter(ctx: RequestContext, access: LiveAccess, uid: str) -> None:
    """Require `use` of the member who created the secret: they know it, and can pull with it."""
    row = _row(ctx, access.destination)
    member = str(row.made_by) if row else ""
    if ctx.view.ids.get(member) is None or not ctx.session.check(member, "use", uid):
        title = kinds.schema_of(ctx.view, uid).title.lower()
        raise DeniedError(
            f"{_name(ctx, member)}, who created the secret, may not use a {title} that it needs.",
            "Let somebody who may use it rotate the secret.",
            action="use",
            resource=uid,
        )


def _need_of_author(ctx: RequestContext, action: str, uid: str, report: str) -> None:
    """Require a right of the report's author, with an error for the BI tool that pulls."""
    try:
        ctx.need(action, uid)
    except (DeniedError, HiddenError) as error:
        who, title = _name(ctx, ctx.caller.member), kinds.schema_of(ctx.view, uid).title.lower()
        # What it reads is not named: whoever pulls may not know it.
        raise DeniedError(
            f"The report is pulled as {who}, who may not {humanize(action)} a {title} that it needs.",
            f"Grant {who} access again, or let somebody who may run it take over the report {quote(report)}.",
            action=action,
            resource=uid,
        ) from error


def _refusal(
    platform: Platform, access: LiveAccess, lake: IcebergCatalog, report: str, author: DefinitionAuthor | None
) -> str:
    try:
        # No client sent this: a refusal here is no attempt, and is not audited.
        with platform.database.read() as transaction:
            session = platform.access.session(transaction, access.tenant)
            ctx = RequestContext(session, _author_caller(access, author, report), platform.keys)
            _pull_sql(ctx, access, lake, report, ctx.at)
    except (DeniedError, ConflictError, InvalidInputError, NotFoundError) as error:
        return error.message
    return ""


def _need_live(ctx: RequestContext, destination: str) -> None:
    if is_deleted(ctx, destination):
        raise ConflictError(f"The destination {quote(destination)} is deleted.", "Restore it first.")
    if resource_metadata.load(ctx, destination).settings.get("to") != LIVE_TYPE:
        raise ConflictError(f"The destination {quote(destination)} is not live.", "Its reports are sent.")


def _author_caller(access: LiveAccess, author: DefinitionAuthor | None, report: str) -> Caller:
    if author is None:
        raise ConflictError(f"Nobody has saved the report {quote(report)}.", "Save it once.")
    # The audit log names the secret where it names a token.
    visit = access.visit
    return replace(author.caller, token_id=access.secret, request=visit.request, address=visit.address)


def _name(ctx: RequestContext, uid: str) -> str:
    number = ctx.view.ids.get(uid)
    return (ctx.view.names.get(number) if number is not None else None) or uid


live_pull_table = sa.Table(
    "live_pull",
    metadata,
    sa.Column("n", IdType, primary_key=True, autoincrement=True),
    sa.Column("tenant_id", IdType, nullable=False),
    sa.Column("report_id", IdType, nullable=False),
    sa.Column("destination_id", IdType, nullable=False),
    sa.Column("at", IdType, nullable=False),
    sa.Column("rows", IdType, nullable=False),
    sa.Column("milliseconds", IdType, nullable=False),
)
sa.Index("live_pull_by_report", live_pull_table.c.tenant_id, live_pull_table.c.report_id, live_pull_table.c.n)
sa.Index("live_pull_by_time", live_pull_table.c.at)

RETENTION_DAYS = 90


def record_pull(
    platform: Platform, access: LiveAccess, pull: ReportPull, at: Moment, *, rows: int, milliseconds: int
) -> None:
    """Record a pull."""
    record = {"report_id": pull.report, "destination_id": pull.destination, "rows": rows, "milliseconds": milliseconds}
    with platform.database.write("live") as transaction:
        transaction.connection.execute(live_pull_table.insert().values(tenant_id=pull.tenant, at=at, **record))
        used = live_secret_table.update().where(live_secret_table.c.id == access.secret).values(used_at=at)
        transaction.connection.execute(used)


def delete_old_pulls(platform: Platform) -> int:
    """Delete old records; return how many."""
    with platform.database.write("live") as transaction:
        old = live_pull_table.delete().where(live_pull_table.c.at < platform.clock() - RETENTION_DAYS * DAY)
        return transaction.connection.execute(old).rowcount


PERIODIC_TASKS = (
    PeriodicTask("forget pulls", 3600, delete_old_pulls),
    PeriodicTask("delete stored results", 600, stored_results.delete_unused),
)


def take_over(ctx: RequestContext, report: str) -> None:
    """Let the report be pulled as the caller from now on, who may edit and run it."""
    ctx.need_writable()
    need_kind(ctx, report, "edit", (REPORT_KIND,))
    ctx.need("run", report)
    resource_edit.take_over(ctx, report)
