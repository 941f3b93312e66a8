"""The activity of the demo company's people: accounts, descriptions, saved queries, pending requests, an
access review, and usage.

It is added to what `company` loads through the services, each time by a member who may do it.
"""

from __future__ import annotations

from lakehold.catalog import campaign_decisions, campaigns, requests, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.usage import UsageRecorder
from lakehold.demo import company, content, lakehouse
from lakehold.directory import invites, members, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.invite_grants import InvitedRole, InviteGrants
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY

MAIL_DOMAIN = "corner.example"
"""Where nobody reads mails."""
SERVICE_ACCOUNT = "nightly"
_REVIEW_DAYS, _DECIDED_ROWS = 14, 3


def load_with_activity(platform: Platform) -> None:
    """Load the whole company with its activity."""
    company.load(platform.access)
    add_activity(platform)


def add_activity(platform: Platform) -> None:
    """Add everything beyond the company's facts."""
    with platform.write(_caller("olga")) as ctx:
        for member in company.PEOPLE:
            members.set_email(ctx, member, f"{member}@{MAIL_DOMAIN}")
    _add_descriptions(platform)
    _add_requests(platform)
    with platform.write(_caller("adam")) as ctx:
        _add_accounts(ctx, platform)
    _add_usage(platform)


def start_access_review(platform: Platform) -> str:
    """Start an access review of the lakehouse with some rows decided; return its id."""
    with platform.write(_caller("adam")) as ctx:
        due = ctx.at + _REVIEW_DAYS * DAY
        begun = campaigns.start(ctx, lakehouse.LAKEHOUSE, "Who still needs the lakehouse?", due=due)
        uid = begun.campaign.uid
        decided = [row.n for row in campaign_decisions.list_rows(ctx, uid)[:_DECIDED_ROWS]]
        campaign_decisions.keep(ctx, uid, decided)
        return uid


def _add_descriptions(platform: Platform) -> None:
    for member, descriptions in content.DESCRIPTIONS.items():
        with platform.write(_caller(member)) as ctx:
            for uid, words in descriptions.items():
                resource_edit.apply_edit(ctx, uid, ResourceEdit(description=words))
            for uid in content.DISCOVERABLE.get(member, ()):
                resource_edit.apply_edit(ctx, uid, ResourceEdit(attributes={"discoverable": True}))
    _add_saved_queries(platform)


def _add_saved_queries(platform: Platform) -> None:
    for member, queries in content.SAVED_QUERIES.items():
        with platform.write(_caller(member)) as ctx:
            for name, kept in queries.items():
                edges, settings = {"lakehouse": lakehouse.LAKEHOUSE, "reads": kept.reads}, {"sql": kept.sql}
                resources.create(ctx, "lakehouse.saved_query", name, uid=_id_of(name), edges=edges, settings=settings)
    for uid, (member, sql) in content.INITIAL_QUERIES.items():
        with platform.write(_caller(member)) as ctx:
            resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={"sql": sql}))


def _add_requests(platform: Platform) -> None:
    for member, action, uid, reason in content.REQUESTS:
        with platform.write(_caller(member)) as ctx:
            requests.create(ctx, action, uid, reason=reason)


def _add_accounts(ctx: RequestContext, platform: Platform) -> None:
    """Create a service account with its token, and an open invite."""
    members.create_service_account(ctx, "Nightly import", uid=SERVICE_ACCOUNT)
    tokens.create(ctx, "Import of the tills", member=SERVICE_ACCOUNT, days=365)
    invitation = InviteGrants((InvitedRole("business_user", "sales"),))
    invites.create(ctx, platform.settings, f"paula@{MAIL_DOMAIN}", invitation)


def _add_usage(platform: Platform) -> None:
    usage = UsageRecorder()
    for member, uids in content.USAGE.items():
        with platform.read(_caller(member)) as ctx:
            for days, uid in enumerate(uids):
                usage.record(ctx, _read_action(ctx, uid), uid, at=ctx.at - days * DAY)
    usage.flush(platform.database)


def _read_action(ctx: RequestContext, uid: str) -> str:
    may = ctx.session.actions(ctx.principal, uid)
    return next((action for action in ("read", "use", "view", "open") if action in may), may[0])


def _id_of(name: str) -> str:
    return name.lower().replace(" ", "_")


def _caller(member: str) -> Caller:
    return Caller(company.TENANT, member)
