"""The project Sales in a database. Pam is its Admin, Tess a Technical User, Ben a Business User, Ada an Owner of
the tenant.
"""

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
from tests.platform import ADA

PROJECT, MART, REPORT = "sales", "orders_mart", "weekly"
PAM, TESS, BEN, NED = (Caller(TENANT, member) for member in ("pam", "tess", "ben", "ned"))
ROLES = {"pam": "admin", "tess": "technical_user", "ben": "business_user"}
RUNS = Runs(workspaces.runnables())


@dataclass(slots=True)
class SalesProject:
    """The project, and the actions of its members."""

    platform: Platform

    def add_grants(self, *grants: Grant) -> None:
        """Some hold roles from now on."""
        with self.platform.access.write(TENANT) as session:
            for grant in grants:
                session.store.add(grant)

    def remove_grants(self, *grants: Grant) -> None:
        """They no longer do."""
        with self.platform.access.write(TENANT) as session:
            for grant in grants:
                session.store.remove(grant)

    def set_role(self, member: str, role: str) -> None:
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

    def set_group_membership(self, member: str, group: str, *, into: bool) -> None:
        """Into a group, or out of it."""
        with self.platform.access.write(TENANT) as session:
            change = session.store.add if into else session.store.remove
            change(Edge("member_of", member, group))

    def set_shared(self, *, reporting: bool) -> None:
        """Whether the mart is seen by all members of the project."""
        with self.platform.access.write(TENANT) as session:
            session.store.add(Attribute(MART, "shared_for_reporting", str(reporting).lower()))

    def choose(self, by: Caller, member: str, **choices: bool | None) -> receivers.MemberSubscriptions:
        """Choose for somebody."""
        with self.platform.write(by) as ctx:
            return receivers.set_subscription(ctx, PROJECT, member, choices)

    def switch(self, by: Caller = PAM, **channels: bool) -> None:
        """Switch channels."""
        with self.platform.write(by) as ctx:
            receivers.set_channels(ctx, PROJECT, channels)

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

    def run_to_end(self, uid: str, problem: str = "", *, by: Caller = TESS, times: int = 1) -> str:
        """Run a resource from start to end without executing it, and return the run's id."""
        with self.platform.write(by) as ctx:
            run = RUNS.start(ctx, uid).id
        self.end_run(self.claim_next_run(), problem, times=times)
        return run

    def claim_next_run(self) -> int:
        """Claim the next run as a worker does, and return its number."""
        with self.platform.database.write(queue.QUEUE_LOCK) as transaction:
            ((number, _),) = queue.claim_runs(transaction, self.platform.clock(), most=1, at_once=1)
        return number

    def end_run(self, number: int, problem: str = "", *, times: int = 1) -> None:
        """End a run, which a worker may record more than once."""
        running = RunExecutor(self.platform, workspaces.runnables(), dict, SparkRuntime(self.platform, ""))
        for _ in range(times):
            running.end(number, problem)

    def subjects_by_recipient(self) -> dict[str, list[str]]:
        """Return the subjects of all mails by recipient."""
        found: dict[str, list[str]] = {}
        for receiver, subject, _ in self.mails():
            found.setdefault(receiver.partition("@")[0], []).append(subject)
        return found

    def mails(self) -> list[tuple[str, str, str]]:
        """Return all mails: recipient, subject and text."""
        with self.platform.database.read() as transaction:
            rows = transaction.connection.execute(sa.select(outbox_table).order_by(outbox_table.c.id)).all()
        # Of what was sent, the text is not kept.
        return [(row.receiver, row.subject, row.body and self.platform.keys.decrypt(row.body)) for row in rows]

    def clear_mails(self) -> None:
        """Delete the mails so far."""
        with self.platform.database.write() as transaction:
            transaction.connection.execute(outbox_table.delete())


def create_sales_project(platform: Platform, *, settings: Mapping[str, object] | None = None) -> SalesProject:
    """Create the project with a mart of Tess's, which Ned (without a role) may not see, and a report of Ben's."""
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
        mart_settings = {"by": "sql", "sql": "SELECT 1", **(settings or {})}
        edges = {"project": PROJECT, "storage": "lake"}
        managed = {"published": True}
        resources.create(
            ctx, "marts.data_mart", "Orders", uid=MART, edges=edges, settings=mart_settings, managed=managed
        )
    sales_project = SalesProject(platform)
    sales_project.set_shared(reporting=True)
    with platform.write(BEN) as ctx:
        to = {"to": "mail", "receivers": ["board@x.test"]}
        resources.create(ctx, "marts.destination", "Board", uid="board", edges={"project": PROJECT}, settings=to)
        edges = {"data_mart": MART, "destination": "board"}
        resources.create(ctx, "marts.report", "Weekly", uid=REPORT, edges=edges, settings={"columns": ["id"]})
    return sales_project
