"""The context of one request: a caller, a transaction, and the checked and audited changes made in it.

Every change that a person makes goes through here, so that none is made without the right to it and none is missing
from the audit log. A refusal is an error that names the missing right; it is audited after the rollback.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from lakehold.access import AccessSession, Add, Adopt, Attribute, Draft, Edge, Grant, Remove
from lakehold.access.decisions.principal import Principal
from lakehold.access.decisions.ways import Way, rank_ways
from lakehold.access.facts.changes import resolve_fact
from lakehold.access.facts.deletions import Deletion, EndedFact
from lakehold.access.facts.descriptions import describe_action, describe_fact, describe_resource
from lakehold.access.facts.last_holder import refuse_replacing_for_a_time
from lakehold.access.facts.names import NameTakenError
from lakehold.access.facts.records import Change, Fact, mentioned_ids, require_moment, require_text
from lakehold.access.facts.view import FactView
from lakehold.directory import accounts
from lakehold.directory.access_models import need_adoptable
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import TenantRows
from lakehold.kit.errors import ForbiddenError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.keys import KeyRing
from lakehold.ledger import outbox
from lakehold.ledger.audit import DONE, READS, AuditLog, AuditLogEntry

EdgeTargets = Mapping[str, str | Sequence[str]]
MomentLike = Moment | datetime


class RequestContext:
    """One caller's questions and changes in one transaction."""

    def __init__(self, session: AccessSession, caller: Caller, keys: KeyRing) -> None:
        self.session = session
        self.caller = caller
        self.keys = keys
        self.audit = AuditLog(session.transaction, session.tenant, caller.tenant, keys)
        self.reads = AuditLog(session.transaction, session.tenant, caller.tenant, keys, READS)
        self._entries: list[AuditLogEntry] = []
        if session.transaction.writes:
            session.transaction.before_commit.append(lambda: self.audit.append(self._entries))

    @property
    def principal(self) -> Principal:
        """The subject of access decisions."""
        return self.caller.principal

    @property
    def at(self) -> Moment:
        """The moment of this transaction."""
        return self.session.at

    @property
    def view(self) -> FactView:
        """The facts, for lookups that are not decisions: names, kinds, edges."""
        return self.session.current_view()

    def rows(self, table: sa.Table) -> TenantRows:
        """Return the rows of a table that belong to the caller's tenant."""
        return TenantRows(self.session.transaction, self.session.tenant, table)

    # May they?

    def need_visible(self, resource: str, action: str = "see") -> None:
        """Refuse unless the caller may see the resource."""
        if not self.session.can_see(self.principal, resource):
            error = NotFoundError(f"There is no resource {quote(resource)}.", "Check the ID.")
            raise HiddenError(error, action=action, resource=resource)

    def need(self, action: str, resource: str, *, role: str | None = None, edges: EdgeTargets | None = None) -> None:
        """Refuse unless the caller may do the action."""
        self.need_visible(resource, action)
        if self.session.check(self.principal, action, resource, role=role, edges=edges):
            return
        ways = self.session.read_view(
            lambda _: self.session.evaluator.ways(self.principal, action, resource, role=role)
        )
        done = f"{action} {role}" if role else action
        raise self._denied(f"You may not {describe_action(self.view, done, resource)}.", done, resource, ways)

    def need_draft(self, draft: Draft) -> None:
        """Refuse unless the caller may create such a resource."""
        schema = self.view.policy.kind(draft.kind).schema
        for edge, targets in draft.edges.items():
            for target in (targets,) if isinstance(targets, str) else targets:
                self.need_visible(target, f"create {edge}")
        if not self.session.check(self.principal, "create", draft):
            there = draft.edges.get(schema.parent or "", self.caller.tenant)
            where = there if isinstance(there, str) else next(iter(there), self.caller.tenant)
            place = describe_resource(self.view, where)
            message = f"You may not create a {schema.title.lower()} like this in {place}."
            ways = self.session.read_view(lambda _: self.session.evaluator.ways_to_create(self.principal, draft))
            raise self._denied(message, "create", where, ways, otherwise=f"Ask somebody who gives roles in {place}.")

    def need_change(self, change: Add | Remove) -> None:
        """Refuse unless the caller may make this change."""
        for uid in mentioned_ids(change.fact):
            self.need_visible(uid, "change")
        if self.session.check_change(self.principal, change):
            return
        resource = mentioned_ids(change.fact)[0]
        ways = self.session.read_view(lambda _: self.session.evaluator.ways_to_change(self.principal, change))
        verb = "set" if isinstance(change, Add) else "take away"
        message = f"You may not {verb} {describe_fact(self.view, change.fact)}."
        raise self._denied(message, _audit_action(change), resource, ways)

    def accept_id(self, uid: str | None) -> str | None:
        """Return the id that a client has chosen for a new resource, if any, or refuse.

        A taken id answers that something has it, or had it. Those who may see the audit log can read all ids there;
        everybody else is answered alike for every id.
        """
        if uid is None or self.session.check(self.principal, "see_audit", self.caller.tenant):
            return uid
        hint = "Leave out the id: the platform gives one. Those who may see the audit log can choose ids."
        raise DeniedError("You may not choose the id.", hint, action="choose id", resource=self.caller.tenant)

    def _denied(
        self, message: str, action: str, resource: str, ways: Sequence[Way] = (), otherwise: str = ""
    ) -> DeniedError:
        narrowed = "This token is narrowed; its member may be able to. " if self.caller.narrowed else ""
        if not ways:
            return DeniedError(message, f"{narrowed}{otherwise}".strip(), action=action, resource=resource)
        _, nearest = rank_ways(self.view, resource, ways)[0]
        missing = " and ".join(describe_fact(self.view, need.fact) for need in nearest.needed)
        givers = tuple(dict.fromkeys(giver for need in nearest.needed for giver in need.givers))
        visible = tuple(giver for giver in givers if self.session.can_see(self.principal, giver))
        names = tuple(self.view.names.get(self.view.resource(giver)) or giver for giver in visible)
        hint = f"{narrowed}Missing: {missing}." + (f" Can be given by {', '.join(names)}." if names else "")
        return DeniedError(
            message, hint, action=action, resource=resource, givers=visible, names=names, missing=missing
        )

    # Then do it

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str | None = None,
        edges: EdgeTargets | None = None,
        attributes: Mapping[str, str | bool] | None = None,
    ) -> str:
        """Create a resource, as its creator."""
        self.need_writable()
        draft = Draft(kind, {} if edges is None else edges, {} if attributes is None else attributes)
        self.need_draft(draft)
        return self.create_unchecked(draft, name, uid=uid, creator=self.caller.member or None)

    def create_unchecked(self, draft: Draft, name: str, *, uid: str | None = None, creator: str | None = None) -> str:
        """Create a resource without a check. The right to it has been checked by another rule."""
        self.need_writable()
        with self._naming_holder():
            created = self.session.store.create(
                draft.kind, name, uid=uid, edges=draft.edges, attributes=draft.attributes, creator=creator
            )
        given = {**draft.edges, **draft.attributes}
        plain = {key: value if isinstance(value, str | bool) else list(value) for key, value in given.items()}
        self.note("create", created, after={"name": name, **plain})
        return created

    def make(self, change: Change, *, since: MomentLike | None = None, until: MomentLike | None = None) -> None:
        """Make a change of facts or models, if the caller may."""
        self.need_writable()
        if isinstance(change, Adopt):
            self.need("manage_models", self.caller.tenant)
            self.session.read_view(lambda view: need_adoptable(view, require_text(change.source, "model")))
            self.session.store.apply(change)
            self.note("adopt model", self.caller.tenant, after={"model": change.source})
            return
        self.need_change(change)
        if isinstance(change, Add):
            self.refuse_replacing(change.fact, since, until)
        self.make_unchecked(change, since=since, until=until)

    def refuse_replacing(self, fact: Fact, since: MomentLike | None, until: MomentLike | None) -> None:
        """Refuse to take a role of a single person from somebody for a time only."""
        begin = self.at if since is None else require_moment(since)
        if begin > self.at or (until is not None and require_moment(until) < FOREVER):
            row = resolve_fact(self.view, fact)
            refuse_replacing_for_a_time(self.session.transaction, self.view, row, begin)

    def make_unchecked(
        self, change: Add | Remove, *, since: MomentLike | None = None, until: MomentLike | None = None
    ) -> None:
        """Make a change without checking its own rule. The right to it has been checked by another rule."""
        self.need_writable()
        fact = change.fact
        if isinstance(change, Add) and isinstance(fact, Grant):
            subject, resource = self.view.resource(fact.subject), self.view.resource(fact.resource)
            accounts.refuse_service_holder(self, subject, fact.role, resource)
        elif isinstance(fact, Grant):
            accounts.refuse_losing_sign_in(self, fact)
        before = self._value_before(fact)
        with self._naming_holder():
            self.session.store.apply(change, since=since, until=until)
        after = {"fact": describe_fact(self.view, fact), **_fact_values(fact)} if isinstance(change, Add) else {}
        for name, value in (("since", since), ("until", until)):
            if value is not None and self.at < require_moment(value) < FOREVER:
                after[name] = str(value)
        self.note(_audit_action(change), mentioned_ids(fact)[0], before=before, after=after)

    def rename(self, uid: str, name: str) -> None:
        """Rename a resource, if the caller may."""
        self.need_writable()
        self.need("edit", uid)
        self.rename_unchecked(uid, name)

    def rename_unchecked(self, uid: str, name: str) -> None:
        """Rename a resource without a check. The right to it has been checked by another rule."""
        self.need_writable()
        before = self.view.names.get(self.view.resource(uid)) or ""
        with self._naming_holder():
            self.session.store.rename(uid, name)
        if before != name:
            self.note("rename", uid, before={"name": before}, after={"name": name})

    def delete(self, uid: str) -> None:
        """Delete a resource and end every fact about it, if the caller may."""
        self.need_writable()
        self.need("delete", uid)
        self.delete_unchecked(uid)

    def delete_unchecked(self, uid: str) -> None:
        """Delete a resource without a check. The right to it has been checked by another rule."""
        self.need_writable()
        entry = audit_entry(self.caller, self.view, self.at, "delete", uid)
        before = {"name": self.view.names.get(self.view.resource(uid)) or ""}
        self.session.store.delete(uid)
        self._entries.append(replace(entry, before=before))

    def restore_unchecked(self, deletion: Deletion, name: str, facts: Sequence[EndedFact]) -> None:
        """Let a deleted resource exist again, without a check. The right to it has been checked by another rule."""
        self.need_writable()
        with self._naming_holder():
            self.session.store.restore(deletion, name, facts)
        self.note("restore", deletion.uid, before={"name": deletion.name}, after={"name": name})

    def need_writable(self) -> None:
        """Refuse impersonated callers and read-only transactions. Called before anything but a fact is written."""
        if self.caller.impersonator:
            raise ForbiddenError("Viewing as somebody else only reads.", "Stop viewing as them to change anything.")
        if not self.session.transaction.writes:
            raise ForbiddenError("This transaction is read-only.", "Start a writing transaction.")

    @contextmanager
    def _naming_holder(self) -> Iterator[None]:
        """Let the refusal of a name say what has it, if the caller may see that."""
        try:
            yield
        except NameTakenError as error:
            if error.holder and self.session.can_see(self.principal, error.holder):
                holder = describe_resource(self.view, error.holder)
                error.message = f"The name {quote(error.name)} is taken by the {holder}."
            raise

    # Then write it down

    def note(
        self,
        action: str,
        resource: str = "",
        *,
        before: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
        reason: str = "",
        outcome: str = DONE,
    ) -> None:
        """Append an entry to the audit log at the end of the transaction."""
        entry = audit_entry(self.caller, self.view, self.at, action, resource)
        self._entries.append(replace(entry, before=before or {}, after=after or {}, reason=reason, outcome=outcome))

    def queue_mail(self, receiver: str, subject: str, body: str) -> None:
        """Queue a mail in the outbox, to be sent after the commit."""
        outbox.enqueue(
            self.session.transaction,
            self.session.tenant,
            self.at,
            receiver=receiver,
            subject=subject,
            body=self.keys.encrypt(body),
        )

    def _value_before(self, fact: Fact) -> dict[str, object]:
        """Return the value of an attribute, the ends of an edge, or the grant, before the change."""
        view = self.view
        match fact:
            case Attribute(resource, name, _, member):
                here = view.resource(resource)
                values = view.attributes[name] if member is None else view.memberships[name].get(here) or {}
                value = values.get(here if member is None else view.resource(member))
                return {name: value} if value is not None else {}
            case Edge(name, source, _):
                return {name: [view.uid(end) for end in view.edges_out[name].get(view.resource(source)) or ()]}
            case Grant(subject, role, resource):
                holds = Grant(subject, role, resource) in set(self.grants(resource))
                return {"fact": describe_fact(view, fact), **_fact_values(fact)} if holds else {}

    def grants(self, resource: str) -> list[Grant]:
        """Return the grants on the resource itself."""
        return self.session.read_view(lambda view: view.grants_on(view.resource(resource)))


def audit_entry(caller: Caller, view: FactView, at: Moment, action: str, resource: str) -> AuditLogEntry:
    """Build an audit entry about this caller and resource, with their present names."""
    number = view.ids.get(resource)
    who = view.ids.get(caller.impersonator or caller.member)
    return AuditLogEntry(
        at=at,
        member=caller.impersonator or caller.member,
        action=action,
        resource=resource,
        member_name=(view.names.get(who) if who is not None else "") or "",
        resource_name=(view.names.get(number) if number is not None else "") or "",
        kind=view.kind(number) if number is not None else "",
        token=caller.token_id,
        viewing_as=caller.member if caller.impersonator else "",
        request=caller.request,
        address=caller.address,
    )


def _fact_values(fact: Fact) -> dict[str, object]:
    match fact:
        case Grant(subject, role, _):
            return {"role": role, "subject": subject}
        case Edge(name, _, target):
            return {name: target}
        case Attribute(_, name, value, member):
            return {name: value} if member is None else {name: value, "member": member}


def _audit_action(change: Add | Remove) -> str:
    adds = isinstance(change, Add)
    match change.fact:
        case Grant():
            return "grant" if adds else "revoke"
        case Edge():
            return "link" if adds else "unlink"
        case Attribute():
            return "set" if adds else "unset"
