"""What makes the company look lived in: accounts, descriptions, saved queries, requests that wait, and what was used.

It adds to what `company` loads, and does so as its people do: through the services, each by somebody who may.
"""

from __future__ import annotations

from lakehold.catalog import campaign_decisions, campaigns, requests, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.usage import UsageRecorder
from lakehold.demo import asked, company, lakehouse, told
from lakehold.directory import invites, members, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.invite_grants import InvitedRole, InviteGrants
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY

MAILS_TO = "corner.example"
"""Where nobody reads mails."""
SERVICE = "nightly"
_REVIEW_DAYS, _LOOKED_AT = 14, 3


def load(platform: Platform) -> None:
    """The whole company, with all that makes it look lived in."""
    company.load(platform.access)
    furnish(platform)


def furnish(platform: Platform) -> None:
    """All that comes on top of the company's facts."""
    with platform.write(_by("olga")) as ctx:
        for member in company.PEOPLE:
            members.set_email(ctx, member, f"{member}@{MAILS_TO}")
    _tell(platform)
    _ask(platform)
    with platform.write(_by("adam")) as ctx:
        _bring_in(ctx, platform)
    _use(platform)


def review(platform: Platform) -> str:
    """A review of who holds what in the lakehouse, begun and not ended."""
    with platform.write(_by("adam")) as ctx:
        due = ctx.at + _REVIEW_DAYS * DAY
        begun = campaigns.start(ctx, lakehouse.LAKEHOUSE, "Who still needs the lakehouse?", due=due)
        uid = begun.campaign.uid
        looked_at = [row.n for row in campaign_decisions.list_rows(ctx, uid)[:_LOOKED_AT]]
        campaign_decisions.keep(ctx, uid, looked_at)
        return uid


def _tell(platform: Platform) -> None:
    for member, descriptions in told.DESCRIPTIONS.items():
        with platform.write(_by(member)) as ctx:
            for uid, words in descriptions.items():
                resource_edit.apply_edit(ctx, uid, ResourceEdit(description=words))
            for uid in told.DISCOVERABLE.get(member, ()):
                resource_edit.apply_edit(ctx, uid, ResourceEdit(attributes={"discoverable": True}))
    _keep(platform)


def _keep(platform: Platform) -> None:
    for member, queries in asked.QUERIES.items():
        with platform.write(_by(member)) as ctx:
            for name, kept in queries.items():
                edges, settings = {"lakehouse": lakehouse.LAKEHOUSE, "reads": kept.reads}, {"sql": kept.sql}
                resources.create(ctx, "lakehouse.saved_query", name, uid=_id_of(name), edges=edges, settings=settings)
    for uid, (member, sql) in asked.FIRST.items():
        with platform.write(_by(member)) as ctx:
            resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={"sql": sql}))


def _ask(platform: Platform) -> None:
    for member, action, uid, reason in told.REQUESTS:
        with platform.write(_by(member)) as ctx:
            requests.create(ctx, action, uid, reason=reason)


def _bring_in(ctx: RequestContext, platform: Platform) -> None:
    """A service account with its token, and somebody who has been invited and has not come yet."""
    members.create_service_account(ctx, "Nightly import", uid=SERVICE)
    tokens.create(ctx, "Import of the tills", member=SERVICE, days=365)
    wanted = InviteGrants((InvitedRole("business_user", "sales"),))
    invites.create(ctx, platform.settings, f"paula@{MAILS_TO}", wanted)


def _use(platform: Platform) -> None:
    usage = UsageRecorder()
    for member, uids in told.USES.items():
        with platform.read(_by(member)) as ctx:
            for days, uid in enumerate(uids):
                usage.record(ctx, _used_with(ctx, uid), uid, at=ctx.at - days * DAY)
    usage.flush(platform.database)


def _used_with(ctx: RequestContext, uid: str) -> str:
    """The most that somebody does who only looks."""
    may = ctx.session.actions(ctx.asker, uid)
    return next((action for action in ("read", "use", "view", "open") if action in may), may[0])


def _id_of(name: str) -> str:
    return name.lower().replace(" ", "_")


def _by(member: str) -> Caller:
    return Caller(company.TENANT, member)
