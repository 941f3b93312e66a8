"""A report: asked of its data mart as the person whom the run is for, and sent to its destination."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lakehold.catalog import credentials, resource_metadata
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.spark import row_checks
from lakehold.lake.volumes import Volume
from lakehold.runs import last
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.ends import starts
from lakehold.workspaces.marts import reporting
from lakehold.workspaces.marts.doing.saying import Saying
from lakehold.workspaces.marts.steps import Send
from lakehold.workspaces.moving import noted
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.moving.sending import Sending
from lakehold.workspaces.told import SettingsReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CONDITIONS = ("always", "rows", "changed")
_OWN = frozenset({"name", "subject", "body", "kind"})


def do(step: Send, doing: StepContext) -> Done:
    """Ask, and send what was asked for, if its condition holds."""
    with doing.platform.read(doing.caller) as ctx:
        report = reporting.told_of(ctx, step.report)
        ctx.need("use", step.destination)
        sending, saying = _sending(ctx, doing, step, report)
        before = str(last.told(ctx, step.report).get("seal", ""))
        text = reporting.text(ctx, doing.tables.lake, report, step.mart)
    rows = doing.asked("", text)[0]
    doing.go_on()
    reason, seal = _left_out(rows, report, before)
    if reason:
        doing.log(f"Nothing was sent: {reason}")
        return Done(told={"seal": before})
    sent = replace(sending, said=saying.said(rows, doing)).send(rows)
    return noted.told_of(doing, sent, seal=seal)


def _sending(ctx: RequestContext, doing: StepContext, step: Send, report: SettingsReader) -> tuple[Sending, Saying]:
    name = ctx.view.names.get(ctx.view.resource(step.report)) or step.report
    # What a report says of how it is sent goes before what its destination says.
    said = {**resource_metadata.load(ctx, step.destination).settings, **_plain(report, "delivery")}
    volume = Volume(doing.platform.settings, readable_tables.identifier_of(ctx, step.destination))
    connecting = Connecting(doing.platform.settings, credentials.load_for_use(ctx, step.destination), volume)
    told = SettingsReader({"name": _file_of(ctx, step, name), "subject": name, **said}, "destination")
    sending = Sending(connecting, told, "", doing.mark, doing.kept, noted.Noted(doing), speaks=True)
    return sending, Saying(ctx, name, report, told.text("to", ""))


def _file_of(ctx: RequestContext, step: Send, name: str) -> str:
    """A file that is called as its report is, unless another one that goes there is called the same: neither takes the
    place of the other's.
    """
    others = (ctx.view.resource(each) for each in starts(ctx, step.destination, "destination") if each != step.report)
    is_twice = any((ctx.view.names.get(each) or "").casefold() == name.casefold() for each in others)
    return f"{name} {step.report}" if is_twice else name


def _plain(report: SettingsReader, name: str) -> Mapping[str, object]:
    """What a report may say of its delivery: words, and nothing of where it goes."""
    if not report.has(name):
        return {}
    given = report.within(name).all
    if unknown := sorted(set(given) - _OWN):
        raise InvalidInputError(
            f"A report does not say {quote(unknown[0])} of its delivery.", f"It may say {', '.join(sorted(_OWN))}."
        )
    return given


def _left_out(rows: DataFrame, report: SettingsReader, before: str) -> tuple[str, str]:
    """Why nothing is sent, if nothing is; and a seal of the rows, where it matters whether they have changed."""
    match report.one_of("send", _CONDITIONS, "always"):
        case "rows":
            return ("there are no rows." if row_checks.is_empty(rows) else ""), ""
        case "changed":
            seal = row_checks.fingerprint(rows)
            return ("nothing has changed since it was last sent." if seal == before else ""), seal
        case _:
            return "", ""
