"""What makes the company look lived in: accounts, descriptions, saved queries, requests that wait, and what was used.

It adds to what `company` loads, and does so as its people do: through the services, each by somebody who may.
"""

from __future__ import annotations

from lakehold.catalog import campaign_rows, campaigns, editing, requests, resources
from lakehold.catalog.editing import Edit
from lakehold.catalog.usage import Usage
from lakehold.demo import asked, company, lakehouse, told
from lakehold.directory import invites, members, service_accounts, tokens
from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.directory.invitations import Invitation, Place
from lakehold.directory.work import Work
from lakehold.kit.clock import DAY

MAILS_TO = "corner.example"
"""Where nobody reads mails."""
SERVICE = "nightly"
_REVIEW_DAYS, _LOOKED_AT = 14, 3


def load(house: Installation) -> None:
    """The whole company, with all that makes it look lived in."""
    company.load(house.access)
    furnish(house)


def furnish(house: Installation) -> None:
    """All that comes on top of the company's facts."""
    with house.write(_by("olga")) as work:
        for member in company.PEOPLE:
            members.set_email(work, member, f"{member}@{MAILS_TO}")
    _tell(house)
    _ask(house)
    with house.write(_by("adam")) as work:
        _bring_in(work, house)
    _use(house)


def review(house: Installation) -> str:
    """A review of who holds what in the lakehouse, begun and not ended."""
    with house.write(_by("adam")) as work:
        due = work.at + _REVIEW_DAYS * DAY
        begun = campaigns.start(work, lakehouse.LAKEHOUSE, "Who still needs the lakehouse?", due=due)
        uid = begun.campaign.uid
        looked_at = [row.n for row in campaign_rows.rows(work, uid)[:_LOOKED_AT]]
        campaign_rows.keep(work, uid, looked_at)
        return uid


def _tell(house: Installation) -> None:
    for member, descriptions in told.DESCRIPTIONS.items():
        with house.write(_by(member)) as work:
            for uid, words in descriptions.items():
                editing.edit(work, uid, Edit(description=words))
            for uid in told.DISCOVERABLE.get(member, ()):
                editing.edit(work, uid, Edit(attributes={"discoverable": True}))
    _keep(house)


def _keep(house: Installation) -> None:
    for member, queries in asked.QUERIES.items():
        with house.write(_by(member)) as work:
            for name, kept in queries.items():
                edges, settings = {"lakehouse": lakehouse.LAKEHOUSE, "reads": kept.reads}, {"sql": kept.sql}
                resources.create(work, "lakehouse.saved_query", name, uid=_id_of(name), edges=edges, settings=settings)
    for uid, (member, sql) in asked.FIRST.items():
        with house.write(_by(member)) as work:
            editing.edit(work, uid, Edit(settings={"sql": sql}))


def _ask(house: Installation) -> None:
    for member, action, uid, reason in told.REQUESTS:
        with house.write(_by(member)) as work:
            requests.ask(work, action, uid, reason=reason)


def _bring_in(work: Work, house: Installation) -> None:
    """A service account with its token, and somebody who has been invited and has not come yet."""
    service_accounts.create(work, "Nightly import", uid=SERVICE)
    tokens.make(work, "Import of the tills", member=SERVICE, days=365)
    wanted = Invitation((Place("business_user", "sales"),))
    invites.make(work, house.settings, f"paula@{MAILS_TO}", wanted)


def _use(house: Installation) -> None:
    usage = Usage()
    for member, uids in told.USES.items():
        with house.read(_by(member)) as work:
            for days, uid in enumerate(uids):
                usage.note(work, _used_with(work, uid), uid, at=work.at - days * DAY)
    usage.write(house.database)


def _used_with(work: Work, uid: str) -> str:
    """The most that somebody does who only looks."""
    may = work.session.actions(work.asker, uid)
    return next((action for action in ("read", "use", "view", "open") if action in may), may[0])


def _id_of(name: str) -> str:
    return name.lower().replace(" ", "_")


def _by(member: str) -> Caller:
    return Caller(company.TENANT, member)
