"""What a live report gives: asked as the person who last saved it, with their rights at this moment."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lakehold.access.decide.words import named, spoken
from lakehold.catalog import details
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.installation import Installation
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import shown
from lakehold.pipeline.lake import Lake
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


def offered(house: Installation, entered: Entered, lake: Lake) -> list[Offered]:
    """The reports that go to the destination, by name."""
    with house.read(_installation(entered)) as work:
        _need_live(work, entered.destination)
        found = starts(work, entered.destination, "destination")
        savers = {uid: details.saver(work, uid) for uid in found}
        names = {uid: _name(work, uid) for uid in found}
    made = [Offered(uid, names[uid], _refused(house, entered, lake, uid, savers[uid])) for uid in found]
    return sorted(made, key=lambda each: each.name.casefold())


def asked(house: Installation, entered: Entered, lake: Lake, report: str) -> Pull:
    """A pull that may be made, written down; or what stands against it, without a row."""
    with house.read(_installation(entered)) as work:
        _need_live(work, entered.destination)
        if not work.view.ids.get(report) or entered.destination not in ends(work, report, "destination"):
            raise NotFoundError(f"There is no report {shown(report)} here.", "Ask for the list of reports.")
        saver = details.saver(work, report)
    with house.write(_as(entered, saver, report)) as work:
        text = _allowed(work, entered, lake, report)
        work.note("pull", report, after={"destination": entered.destination, "secret": entered.secret})
        numbers = (work.view.resource(uid) for uid in (report, entered.destination))
        return Pull(work.caller, text, work.session.tenant, *numbers)


def _allowed(work: Work, entered: Entered, lake: Lake, report: str) -> str:
    """What is asked, if whoever it is asked as may do all that it takes."""
    if work.view.ids.get(work.caller.member) is None:
        raise DeniedError(
            f"Whoever last saved the report {shown(report)} is no longer here.",
            "Let somebody who may run it save it anew.",
            action="run",
            resource=report,
        )
    mart = mart_of(work, report)
    for action, uid in (("run", report), ("use", mart), ("use", entered.destination)):
        _need(work, action, uid, report)
    need_published(work, mart)
    return reporting.text(work, lake, reporting.told_of(work, report), mart)


def _need(work: Work, action: str, uid: str, report: str) -> None:
    """It is not whoever pulls that lacks something."""
    try:
        work.need(action, uid)
    except (DeniedError, HiddenError) as error:
        who, missing = _name(work, work.caller.member), error.hint if isinstance(error, DeniedError) else ""
        raise DeniedError(
            f"The report is pulled as {who}, who may not {spoken(action)} {named(work.view, uid)}.",
            missing or f"Let {who} see it again, or let somebody who may run it save the report {shown(report)}.",
            action=action,
            resource=uid,
        ) from error


def _refused(house: Installation, entered: Entered, lake: Lake, report: str, saver: Caller | None) -> str:
    try:
        # Nobody has asked for it: what is refused here is no attempt, and is not written down as one.
        with house.database.read() as transaction:
            work = Work(house.access.session(transaction, entered.tenant), _as(entered, saver, report), house.keys)
            _allowed(work, entered, lake, report)
    except (DeniedError, ConflictError, InvalidInputError, NotFoundError) as error:
        return error.message
    return ""


def _need_live(work: Work, destination: str) -> None:
    if destinations.is_deleted(work, destination):
        raise ConflictError(f"The destination {shown(destination)} is deleted.", "Restore it first.")
    if details.read(work, destination).settings.get("to") != LIVE:
        raise ConflictError(f"The destination {shown(destination)} is not live.", "Its reports are sent.")


def _as(entered: Entered, saver: Caller | None, report: str) -> Caller:
    if saver is None:
        raise ConflictError(f"Nobody has saved the report {shown(report)}.", "Save it once.")
    # The audit log names the secret where it names a token.
    visit = entered.visit
    return replace(saver, token_id=entered.secret, request=visit.request, address=visit.address)


def _installation(entered: Entered) -> Caller:
    return entered.visit.caller(entered.tenant)


def _name(work: Work, uid: str) -> str:
    number = work.view.ids.get(uid)
    return (work.view.names.get(number) if number is not None else None) or uid
