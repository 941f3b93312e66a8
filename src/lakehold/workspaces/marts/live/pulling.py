"""What a live report gives: asked as the person who last saved it, with their rights at this moment."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lakehold.access.decisions.explanation import describe_resource, humanize
from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.workspaces.ends import ends, starts
from lakehold.workspaces.marts import destinations, reporting
from lakehold.workspaces.marts.live import LIVE
from lakehold.workspaces.marts.live.entering import Entered
from lakehold.workspaces.marts.pipelines.mart import need_published
from lakehold.workspaces.marts.pipelines.report import mart_of


@dataclass(frozen=True, slots=True)
class Offered:
    """A report that can be pulled, unless something stands against it."""

    uid: str
    name: str
    refused: str
    """What stands against it, in words."""


@dataclass(frozen=True, slots=True)
class Pull:
    """One that may be made now."""

    caller: Caller
    text: str
    tenant: int
    report: int
    destination: int


def offered(platform: Platform, entered: Entered, lake: IcebergCatalog) -> list[Offered]:
    """The reports that go to the destination, by name."""
    with platform.read(_installation(entered)) as ctx:
        _need_live(ctx, entered.destination)
        found = starts(ctx, entered.destination, "destination")
        savers = {uid: resource_metadata.last_editor(ctx, uid) for uid in found}
        names = {uid: _name(ctx, uid) for uid in found}
    made = [Offered(uid, names[uid], _refused(platform, entered, lake, uid, savers[uid])) for uid in found]
    return sorted(made, key=lambda each: each.name.casefold())


def asked(platform: Platform, entered: Entered, lake: IcebergCatalog, report: str) -> Pull:
    """A pull that may be made, written down; or what stands against it, without a row."""
    with platform.read(_installation(entered)) as ctx:
        _need_live(ctx, entered.destination)
        if not ctx.view.ids.get(report) or entered.destination not in ends(ctx, report, "destination"):
            raise NotFoundError(f"There is no report {quote(report)} here.", "Ask for the list of reports.")
        saver = resource_metadata.last_editor(ctx, report)
    with platform.write(_as(entered, saver, report)) as ctx:
        text = _allowed(ctx, entered, lake, report)
        ctx.note("pull", report, after={"destination": entered.destination, "secret": entered.secret})
        numbers = (ctx.view.resource(uid) for uid in (report, entered.destination))
        return Pull(ctx.caller, text, ctx.session.tenant, *numbers)


def _allowed(ctx: RequestContext, entered: Entered, lake: IcebergCatalog, report: str) -> str:
    """What is asked, if whoever it is asked as may do all that it takes."""
    if ctx.view.ids.get(ctx.caller.member) is None:
        raise DeniedError(
            f"Whoever last saved the report {quote(report)} is no longer here.",
            "Let somebody who may run it save it anew.",
            action="run",
            resource=report,
        )
    mart = mart_of(ctx, report)
    for action, uid in (("run", report), ("use", mart), ("use", entered.destination)):
        _need(ctx, action, uid, report)
    need_published(ctx, mart)
    return reporting.text(ctx, lake, reporting.told_of(ctx, report), mart)


def _need(ctx: RequestContext, action: str, uid: str, report: str) -> None:
    """It is not whoever pulls that lacks something."""
    try:
        ctx.need(action, uid)
    except (DeniedError, HiddenError) as error:
        who, missing = _name(ctx, ctx.caller.member), error.hint if isinstance(error, DeniedError) else ""
        raise DeniedError(
            f"The report is pulled as {who}, who may not {humanize(action)} {describe_resource(ctx.view, uid)}.",
            missing or f"Let {who} see it again, or let somebody who may run it save the report {quote(report)}.",
            action=action,
            resource=uid,
        ) from error


def _refused(platform: Platform, entered: Entered, lake: IcebergCatalog, report: str, saver: Caller | None) -> str:
    try:
        # Nobody has asked for it: what is refused here is no attempt, and is not written down as one.
        with platform.database.read() as transaction:
            ctx = RequestContext(
                platform.access.session(transaction, entered.tenant), _as(entered, saver, report), platform.keys
            )
            _allowed(ctx, entered, lake, report)
    except (DeniedError, ConflictError, InvalidInputError, NotFoundError) as error:
        return error.message
    return ""


def _need_live(ctx: RequestContext, destination: str) -> None:
    if destinations.is_deleted(ctx, destination):
        raise ConflictError(f"The destination {quote(destination)} is deleted.", "Restore it first.")
    if resource_metadata.load(ctx, destination).settings.get("to") != LIVE:
        raise ConflictError(f"The destination {quote(destination)} is not live.", "Its reports are sent.")


def _as(entered: Entered, saver: Caller | None, report: str) -> Caller:
    if saver is None:
        raise ConflictError(f"Nobody has saved the report {quote(report)}.", "Save it once.")
    # The audit log names the secret where it names a token.
    visit = entered.visit
    return replace(saver, token_id=entered.secret, request=visit.request, address=visit.address)


def _installation(entered: Entered) -> Caller:
    return entered.visit.to_caller(entered.tenant)


def _name(ctx: RequestContext, uid: str) -> str:
    number = ctx.view.ids.get(uid)
    return (ctx.view.names.get(number) if number is not None else None) or uid
