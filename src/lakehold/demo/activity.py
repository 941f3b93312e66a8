"""The activity of the demo company's people: accounts, descriptions, saved queries, requests, a review and usage.

It is added to what `company` loads through the services, each time by a member who may do it.
"""

from lakehold.catalog import campaign_decisions, campaigns, requests, resource_edit, resources
from lakehold.catalog.usage import UsageRecorder
from lakehold.demo import company
from lakehold.directory import invites, members, tokens
from lakehold.directory.invites import InvitedRole, InviteGrants
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY
from lakehold.workspaces import registry

MAIL_DOMAIN = "corner.example"
"""A domain that receives no mail."""
SERVICE_ACCOUNT = "nightly"
_REVIEW_DAYS, _DECIDED_ROWS = 14, 3
CONTENT = company.read_yaml("activity.yaml")
"""Descriptions, saved queries and requests, each with the member who wrote it; settings that only files have; and what
each member has used lately, the newest first, a day between one and the next.
"""


def load_with_activity(platform: Platform) -> None:
    """Load the whole company with its activity."""
    company.load(platform.access)
    add_activity(platform)


def add_activity(platform: Platform) -> None:
    """Add everything beyond the company's facts."""
    with platform.write(company.caller("olga")) as ctx:
        for member in company.PEOPLE:
            members.set_email(ctx, member, f"{member}@{MAIL_DOMAIN}")
    _add_descriptions(platform)
    _add_requests(platform)
    with platform.write(company.caller("adam")) as ctx:
        _add_accounts(ctx, platform)
        for uid, settings in CONTENT["file_settings"].items():
            for name, stored in registry.describe_kind(ctx.view.kind(ctx.view.resource(uid))).file_settings.items():
                stored.save(ctx, uid, settings[name])
    _add_usage(platform)


def start_access_review(platform: Platform) -> str:
    """Start an access review of the lakehouse with some rows decided; return its id."""
    with platform.write(company.caller("adam")) as ctx:
        due = ctx.at + _REVIEW_DAYS * DAY
        begun = campaigns.start(ctx, company.LAKEHOUSE, "Who still needs the lakehouse?", due=due)
        uid = begun.campaign.uid
        decided = [row.n for row in campaign_decisions.list_rows(ctx, uid)[:_DECIDED_ROWS]]
        campaign_decisions.keep(ctx, uid, decided)
        return uid


def _add_descriptions(platform: Platform) -> None:
    for member, descriptions in CONTENT["descriptions"].items():
        with platform.write(company.caller(member)) as ctx:
            for uid, words in descriptions.items():
                resource_edit.apply_edit(ctx, uid, resource_edit.ResourceEdit(description=words))
            for uid in CONTENT["discoverable"].get(member, ()):
                resource_edit.apply_edit(ctx, uid, resource_edit.ResourceEdit(attributes={"discoverable": True}))
    for member, queries in CONTENT["saved_queries"].items():
        with platform.write(company.caller(member)) as ctx:
            for name, query in queries.items():
                uid, edges = name.lower().replace(" ", "_"), {"lakehouse": company.LAKEHOUSE, "reads": query["reads"]}
                settings = {"sql": query["sql"]}
                resources.create(ctx, "lakehouse.saved_query", name, uid=uid, edges=edges, settings=settings)
    for uid, query in CONTENT["initial_queries"].items():
        with platform.write(company.caller(query["owner"])) as ctx:
            resource_edit.apply_edit(ctx, uid, resource_edit.ResourceEdit(settings={"sql": query["sql"]}))


def _add_requests(platform: Platform) -> None:
    for member, action, uid, reason in CONTENT["requests"]:
        with platform.write(company.caller(member)) as ctx:
            requests.create(ctx, action, uid, reason=reason)


def _add_accounts(ctx: RequestContext, platform: Platform) -> None:
    """Create a service account with its token, and an open invite."""
    members.create_service_account(ctx, "Nightly import", uid=SERVICE_ACCOUNT)
    tokens.create(ctx, "Import of the tills", member=SERVICE_ACCOUNT, days=365)
    invitation = InviteGrants((InvitedRole("business_user", "sales"),))
    invites.create(ctx, platform.settings, f"paula@{MAIL_DOMAIN}", invitation)


def _add_usage(platform: Platform) -> None:
    usage = UsageRecorder()
    for member, uids in CONTENT["usage"].items():
        with platform.read(company.caller(member)) as ctx:
            for days, uid in enumerate(uids):
                usage.record(ctx, _read_action(ctx, uid), uid, at=ctx.at - days * DAY)
    usage.flush(platform.database)


def _read_action(ctx: RequestContext, uid: str) -> str:
    may = ctx.session.actions(ctx.principal, uid)
    return next((action for action in ("read", "use", "view", "open") if action in may), may[0])
