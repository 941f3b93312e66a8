"""Applies a plan within one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from lakehold.access.facts.records import Add, Change, Remove
from lakehold.access.session import AccessSession
from lakehold.access_as_code.desired_state import DesiredState
from lakehold.access_as_code.plan import ChangePlan, make_plan
from lakehold.access_as_code.steps import Create, Delete, MakeChange, Rename, Step
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError

_AGAIN = "Plan again, look at it, and apply that."


class ChangeWriter(Protocol):
    """What a plan is applied to: checks the right to each change, makes it, and audits it."""

    @property
    def session(self) -> AccessSession:
        """The transaction."""

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str | None = None,
        edges: Mapping[str, str | Sequence[str]] | None = None,
        attributes: Mapping[str, str | bool] | None = None,
    ) -> str:
        """Create a resource."""

    def make(self, change: Change, *, since: Moment | None = None, until: Moment | None = None) -> None:
        """Make a change of facts or models."""

    def rename(self, uid: str, name: str) -> None:
        """Rename a resource."""

    def delete(self, uid: str) -> None:
        """Delete a resource and end every fact about it."""


def apply_plan(ctx: ChangeWriter, plan: ChangePlan, desired: DesiredState | None = None) -> None:
    """Take every step, or raise and leave the rollback to the caller.

    With the files, it is also refused when they are not those of the plan, and when in the end the tenant differs
    from them. The metadata of the plan is for the caller to set.
    """
    _refuse_outdated(ctx.session, plan, desired)
    for step in plan.steps:
        _take_step(ctx, step)
    _revoke_creator_roles(ctx, plan)
    if desired is not None:
        left = make_plan(ctx.session, desired).steps
        if left:
            raise ConflictError(f"{len(left)} steps were made and are not so; nothing was changed.", _AGAIN)


def _refuse_outdated(session: AccessSession, plan: ChangePlan, desired: DesiredState | None) -> None:
    tenant = session.read_view(lambda view: view.uid(session.tenant))
    if tenant != plan.tenant:
        raise ConflictError(f"This plan is for the tenant {plan.tenant!r}.", "Apply it there.")
    if session.seq != plan.seq:
        message = f"The tenant has changed since the plan was made: it was at {plan.seq} and is at {session.seq}."
        raise ConflictError(message, _AGAIN)
    if desired is not None and desired.digest != plan.digest:
        raise ConflictError("The files have changed since the plan was made.", _AGAIN)


def _take_step(ctx: ChangeWriter, step: Step) -> None:
    match step:
        case Create(kind, uid, name, edges, attributes):
            ctx.create(kind, name, uid=uid, edges=edges, attributes=attributes)
        case Rename(uid, name, _):
            ctx.rename(uid, name)
        case Delete(_, uid, _):
            ctx.delete(uid)
        case MakeChange(change, since, until):
            at = ctx.session.at
            if until is not None and until <= at:
                return  # it would be over already
            ctx.make(change, since=None if since is not None and since <= at else since, until=until)


def _revoke_creator_roles(ctx: ChangeWriter, plan: ChangePlan) -> None:
    """Revoke the roles that creators got with what they created: only the files say who holds which."""
    declared_facts = {
        step.change.fact for step in plan.steps if isinstance(step, MakeChange) and isinstance(step.change, Add)
    }
    gone = {step.uid for step in plan.steps if isinstance(step, Delete)}
    for step in plan.steps:
        if isinstance(step, Create) and step.uid not in gone:
            held = ctx.session.read_view(lambda view, uid=step.uid: view.grants_on(view.resource(uid)))  # type: ignore[misc]
            for grant in held:
                if grant not in declared_facts:
                    ctx.make(Remove(grant))
