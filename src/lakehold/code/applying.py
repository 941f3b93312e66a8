"""Makes a plan so, in the one transaction that it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from lakehold.access.facts.records import Add, Change, Grant, Remove
from lakehold.access.session import AccessSession
from lakehold.code.declared import Declared
from lakehold.code.plans import Plan, plan
from lakehold.code.steps import Create, Delete, Make, Rename, Step
from lakehold.kit.clock import Moment
from lakehold.kit.errors import ConflictError

_AGAIN = "Plan again, look at it, and apply that."


class Work(Protocol):
    """Makes changes: asks for the right to each, writes it, and writes it down."""

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
        """Make a resource."""

    def make(self, change: Change, *, since: Moment | None = None, until: Moment | None = None) -> None:
        """Make a change of facts or models."""

    def rename(self, uid: str, name: str) -> None:
        """Call a resource by another name."""

    def delete(self, uid: str) -> None:
        """End a resource and every fact about it."""


def apply(ctx: Work, made: Plan, declared: Declared | None = None) -> None:
    """Take every step, or raise and leave it to the edge to take all back.

    With the files, it is also refused when they are not those of the plan, and when in the end the tenant is not what
    they say. What is told beside the facts (`made.told`) is for the caller to set.
    """
    _refuse_moved(ctx.session, made, declared)
    for step in made.steps:
        _take(ctx, step)
    _take_back(ctx, made)
    if declared is not None:
        left = plan(ctx.session, declared).steps
        if left:
            raise ConflictError(f"{len(left)} steps were made and are not so; nothing was changed.", _AGAIN)


def _refuse_moved(session: AccessSession, made: Plan, declared: Declared | None) -> None:
    tenant = session.read_view(lambda view: view.uid(session.tenant))
    if tenant != made.tenant:
        raise ConflictError(f"This plan is for the tenant {made.tenant!r}.", "Apply it there.")
    if session.seq != made.seq:
        message = f"The tenant has changed since the plan was made: it was at {made.seq} and is at {session.seq}."
        raise ConflictError(message, _AGAIN)
    if declared is not None and declared.digest != made.digest:
        raise ConflictError("The files have changed since the plan was made.", _AGAIN)


def _take(ctx: Work, step: Step) -> None:
    match step:
        case Create(kind, uid, name, edges, attributes):
            ctx.create(kind, name, uid=uid, edges=edges, attributes=attributes)
        case Rename(uid, name, _):
            ctx.rename(uid, name)
        case Delete(_, uid, _):
            ctx.delete(uid)
        case Make(change, since, until):
            at = ctx.session.at
            if until is not None and until <= at:
                return  # it would be over already
            ctx.make(change, since=None if since is not None and since <= at else since, until=until)


def _take_back(ctx: Work, made: Plan) -> None:
    """Whoever creates something may get a role with it. The files say who holds which, and nobody else does."""
    wanted = {step.change.fact for step in made.steps if isinstance(step, Make) and isinstance(step.change, Add)}
    gone = {step.uid for step in made.steps if isinstance(step, Delete)}
    for step in made.steps:
        if isinstance(step, Create) and step.uid not in gone:
            for grant in _granted(ctx.session, step.uid):
                if grant not in wanted:
                    ctx.make(Remove(grant))


def _granted(session: AccessSession, uid: str) -> list[Grant]:
    return session.read_view(lambda view: view.grants_on(view.resource(uid)))
