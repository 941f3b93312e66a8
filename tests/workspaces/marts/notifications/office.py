"""The project Sales in a database: Pam is its admin, Tess a Technical User, Ben a Business User, Ada an Owner above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from pydantic import SecretStr

from lakehold import workspaces
from lakehold.access import Attribute, Edge, Grant
from lakehold.catalog import resources
from lakehold.directory import members
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.ledger.outbox import outbox_table
from lakehold.runs import queue
from lakehold.runs.service import Runs
from lakehold.worker.run_executor import RunExecutor
from lakehold.worker.spark_session import SparkRuntime
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel
from tests.access.company import TENANT
from tests.house import ADA

PROJECT, MART, REPORT = "sales", "orders_mart", "weekly"
PAM, TESS, BEN, NED = (Caller(TENANT, member) for member in ("pam", "tess", "ben", "ned"))
ROLES = {"pam": "admin", "tess": "technical_user", "ben": "business_user"}
RUNS = Runs(workspaces.runnables())


@dataclass(slots=True)
class Office:
    """It, and what is done there."""

    platform: Platform

    def holds(self, *grants: Grant) -> None:
        """Some hold roles from now on."""
        with self.platform.access.write(TENANT) as session:
            for grant in grants:
                session.store.add(grant)

    def loses(self, *grants: Grant) -> None:
        """They no longer do."""
        with self.platform.access.write(TENANT) as session:
            for grant in grants:
                session.store.remove(grant)

    def becomes(self, member: str, role: str) -> None:
        """Their role in the project is another one, from one moment to the next; empty: none any more."""
        with self.platform.access.write(TENANT) as session:
            for grant in session.current_view().grants_on(session.current_view().resource(PROJECT)):
                if grant.subject == member and grant.role != role:
                    session.store.remove(grant)
            if role:
                session.store.add(Grant(member, role, PROJECT))

    def group(self, uid: str, *who: str) -> None:
        """A group of some members."""
        with self.platform.access.write(TENANT) as session:
            session.store.create("tenant.group", uid.title(), uid=uid, edges={"tenant": TENANT})
            for member in who:
                session.store.add(Edge("member_of", member, uid))

    def goes(self, member: str, group: str, *, into: bool) -> None:
        """Into a group, or out of it."""
        with self.platform.access.write(TENANT) as session:
            change = session.store.add if into else session.store.remove
            change(Edge("member_of", member, group))

    def shared(self, *, reporting: bool) -> None:
        """Whether the mart is seen by all members of the project."""
        with self.platform.access.write(TENANT) as session:
            session.store.add(Attribute(MART, "shared_for_reporting", str(reporting).lower()))

    def choose(self, by: Caller, member: str, **wanted: bool | None) -> receivers.MemberSubscriptions:
        """Choose for somebody."""
        with self.platform.write(by) as ctx:
            return receivers.set_subscription(ctx, PROJECT, member, wanted)

    def switch(self, by: Caller = PAM, **wanted: bool) -> None:
        """Switch channels."""
        with self.platform.write(by) as ctx:
            receivers.set_channels(ctx, PROJECT, wanted)

    def receive(self, channel: NotificationChannel = NotificationChannel.FAILED_RUNS) -> list[str]:
        """Who receives a channel."""
        with self.platform.read(ADA) as ctx:
            return receivers.channel_receivers(ctx, PROJECT, channel)

    def subscribed(self, member: str, by: Caller = PAM) -> tuple[bool, bool]:
        """Whether somebody is to failed runs, and whether that was chosen, as the list has it."""
        with self.platform.read(by) as ctx:
            (found,) = (each for each in receivers.list_receivers(ctx, PROJECT) if each.member.uid == member)
        way = found.channels[NotificationChannel.FAILED_RUNS]
        return way.on, way.chosen

    def ends(self, uid: str, problem: str = "", *, by: Caller = TESS, times: int = 1) -> str:
        """A run from its start to its end, without the work in between. Its id."""
        with self.platform.write(by) as ctx:
            run = RUNS.start(ctx, uid).id
        self.ended(self.begun(), problem, times=times)
        return run

    def begun(self) -> int:
        """The number of the next run, which a worker has taken."""
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=1)
        return number

    def ended(self, number: int, problem: str = "", *, times: int = 1) -> None:
        """It has come to its end, of which a worker may write more than once."""
        running = RunExecutor(self.platform, workspaces.runnables(), dict, SparkRuntime(self.platform, ""))
        for _ in range(times):
            running.end(number, problem)

    def told(self) -> dict[str, list[str]]:
        """The subjects of all mails, by receiver."""
        found: dict[str, list[str]] = {}
        for receiver, subject, _ in self.mails():
            found.setdefault(receiver.partition("@")[0], []).append(subject)
        return found

    def mails(self) -> list[tuple[str, str, str]]:
        """All of them: to whom, about what, and the text."""
        with self.platform.database.read() as transaction:
            rows = transaction.connection.execute(sa.select(outbox_table).order_by(outbox_table.c.id)).all()
        # Of what was sent, the text is not kept.
        return [(row.receiver, row.subject, row.body and self.platform.keys.decrypt(row.body)) for row in rows]

    def forget(self) -> None:
        """The mails so far."""
        with self.platform.database.write() as transaction:
            transaction.connection.execute(outbox_table.delete())


def opened(platform: Platform, *, settings: Mapping[str, object] | None = None) -> Office:
    """With a mart of Tess's that Ned, who has no role, knows nothing of; and a report of Ben's."""
    platform.settings = platform.settings.model_copy(update={"smtp": SecretStr("smtp://127.0.0.1:1")})
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in (*ROLES, "ned"):
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        store.create("marts.project", "Sales", uid=PROJECT, edges={"tenant": TENANT})
        for member, role in ROLES.items():
            store.add(Grant(member, role, PROJECT))
    with platform.write(ADA) as ctx:
        for member in ("ada", "ann", "bob", *ROLES, "ned"):
            members.set_email(ctx, member, f"{member}@x.test")
    with platform.write(TESS) as ctx:
        resources.create(ctx, "marts.storage", "Lake", uid="lake", edges={"project": PROJECT})
        told = {"by": "sql", "sql": "SELECT 1", "published": True, **(settings or {})}
        edges = {"project": PROJECT, "storage": "lake"}
        resources.create(ctx, "marts.data_mart", "Orders", uid=MART, edges=edges, settings=told)
    office = Office(platform)
    office.shared(reporting=True)
    with platform.write(BEN) as ctx:
        to = {"to": "mail", "receivers": ["board@x.test"]}
        resources.create(ctx, "marts.destination", "Board", uid="board", edges={"project": PROJECT}, settings=to)
        edges = {"data_mart": MART, "destination": "board"}
        resources.create(ctx, "marts.report", "Weekly", uid=REPORT, edges=edges, settings={"columns": ["id"]})
    return office
