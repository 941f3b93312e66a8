"""The context of a data project's owner, in which its tasks run: which of that person's roles are missing, and where.

Every prepare, run, resume and reload asks two people: whoever does it, and the owner of the project. The access model
decides; this says what is missing of the second one. It names the space also to those who may not see it, because they
cannot have it mended otherwise.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lakehold.access.facts.descriptions import describe_resource, role_title
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import quote
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.registry import readable_kinds
from lakehold.workspaces.spaces.settings import DATA_MART_KIND, TABLE_KIND

_REGISTERED = ("tables", "marts")
EDITING_ROLES = ("can_edit",)
SUPPLYING_ROLES = ("can_consume_data", "can_edit", "can_manage")
_REGISTERED_KINDS = (TABLE_KIND, DATA_MART_KIND)
_USED = ("sources", "targets", "gateways", "reads")


@dataclass(frozen=True, slots=True)
class MissingRole:
    """A role that the owner of a project needs in a space; one of several is enough."""

    owner: str
    """The name of the person; empty if the project has no owner."""
    space: str
    used: str
    """What needs it: the project, or what a task uses, as a description."""
    roles: tuple[str, ...] = ()
    space_name: str = ""
    role_titles: str = ""
    givers: tuple[str, ...] = ()
    """Names of those who own the space, and so give roles in it."""
    kept: bool = False
    """Whether it is of a former owner of a personal space, and so closed to the present one: no role opens it."""
    reads: bool = False
    """Whether it is the right to read what a task registers that is missing, and no role in a data space."""

    @property
    def text(self) -> str:
        """The role, the person and the space as a sentence."""
        if self.kept:
            return f"The {self.used} is of a former owner of the personal space {quote(self.space_name)}."
        if self.reads:
            who = f"{self.owner} may" if self.owner else "The project has no owner, who would have to"
            return f"{who} {'not ' if self.owner else ''}read the {self.used}."
        who = f"{self.owner} needs" if self.owner else "The project has no owner, who would need"
        return f"{who} {self.role_titles} in the data space {quote(self.space_name)}."

    @property
    def hint(self) -> str:
        """The ways to mend it."""
        if self.kept:
            return "Create your own instead."
        if self.reads:
            return "Who manages it can give access; or give the project an owner who may read it."
        giver = self.givers[0] if self.givers else "Who manages the space"
        return f"{giver} can give it; or give the project an owner who has it."


def owner_of(ctx: RequestContext, uid: str) -> str:
    """Return the owner of a project, space, connection or gateway; empty if it has none."""
    return next(iter(ctx.session.read_view(lambda view: view.holders(view.resource(uid), "owner"))), "")


def project_of(ctx: RequestContext, task: str) -> str:
    """Return the project of a task."""
    found = kinds.parent_of(ctx.view, task)
    assert found is not None  # noqa: S101 - no task lies elsewhere
    return found


def task_of(ctx: RequestContext, dataset: str) -> str:
    """Return the task of a dataset."""
    found = kinds.parent_of(ctx.view, dataset)
    assert found is not None  # noqa: S101 - no dataset lies elsewhere
    return found


def may_mend(ctx: RequestContext, task: str) -> bool:
    """Return whether the caller operates or edits a task, and so can have it mended when its owner lacks a right."""
    return any(ctx.session.check(ctx.principal, action, task) for action in ("stop", "update"))


def missing_roles(ctx: RequestContext, task: str) -> list[MissingRole]:
    """Return the roles that the owner of a task's project lacks, each space once."""
    return missing_in_project(ctx, project_of(ctx, task), [task])


def missing_in_project(ctx: RequestContext, project: str, tasks: Sequence[str]) -> list[MissingRole]:
    """Return the roles that the owner of a project lacks for some of its tasks, each space once."""
    owner = owner_of(ctx, project)
    known, found = set[tuple[str, str]](), dict[str, MissingRole]()
    for task in tasks:
        for space, definition, roles, used in _needs(ctx, task, project):
            if (space, definition) in known:
                continue
            known.add((space, definition))
            if space not in found and not (owner and ctx.session.holds(owner, definition, space)):
                found[space] = _missing(ctx, owner, space, roles, used)
    return [*found.values(), *_closed_ones(ctx, owner, tasks)] or _kept_ones(ctx, owner, project, tasks)


def _closed_ones(ctx: RequestContext, owner: str, tasks: Sequence[str]) -> list[MissingRole]:
    """Return what tasks register and the owner of their project may not read, each once."""
    used = dict.fromkeys(end for task in tasks for edge in _REGISTERED for end in edge_targets(ctx, task, edge))
    return [each for uid in used if (each := _closed(ctx, owner, uid))]


def _closed(ctx: RequestContext, owner: str, uid: str) -> MissingRole | None:
    """Return the right that the owner lacks on a table or data mart; None if there is none."""
    if owner and ctx.session.check(owner, readable_kinds()[ctx.view.kind(ctx.view.resource(uid))], uid):
        return None
    return MissingRole(
        owner=_name(ctx, owner) if owner else "", space=_space_of(ctx, uid), used=_describe_used(ctx, uid), reads=True
    )


def _kept_ones(ctx: RequestContext, owner: str, project: str, tasks: Sequence[str]) -> list[MissingRole]:
    """Return what former owners of personal spaces keep closed to the owner of a project, each once."""
    used = {task: [each for _, _, _, each in _needs(ctx, task, project) if each != project] for task in tasks}
    every = dict.fromkeys(uid for task, others in used.items() for uid in (task, *others))
    return [each for uid in every if (each := _kept(ctx, owner, uid))]


def missing_role(ctx: RequestContext, project: str, uid: str) -> MissingRole | None:
    """Return what the owner of a project lacks to use a connection, gateway, task or table; None if it is nothing."""
    owner = owner_of(ctx, project)
    if ctx.view.kind(ctx.view.resource(uid)) in _REGISTERED_KINDS:
        return _closed(ctx, owner, uid)
    for each in (uid, *edge_targets(ctx, uid, "gateway")):
        space = _space_of(ctx, each)
        if not (owner and ctx.session.holds(owner, "supplies", space)):
            return _missing(ctx, owner, space, SUPPLYING_ROLES, each)
        if kept := _kept(ctx, owner, each):
            return kept
    return None


def _needs(ctx: RequestContext, task: str, project: str) -> Iterator[tuple[str, str, Sequence[str], str]]:
    """Yield each space in which a role is needed, the definition of the model, the roles, and what needs it."""
    yield _space_of(ctx, project), "edits", EDITING_ROLES, project
    for edge in _USED:
        for end in edge_targets(ctx, task, edge):
            for each in (end, *(edge_targets(ctx, end, "gateway") if edge in {"sources", "targets"} else ())):
                yield _space_of(ctx, each), "supplies", SUPPLYING_ROLES, each


def _space_of(ctx: RequestContext, uid: str) -> str:
    found = kinds.workspace_of(ctx.view, uid)
    assert found is not None  # noqa: S101 - nothing of a space lies elsewhere
    return found


def _kept(ctx: RequestContext, owner: str, uid: str) -> MissingRole | None:
    """Return what keeps the owner from using a thing that a former owner of its personal space has made; else None."""
    if ctx.session.holds(owner, "own", uid):
        return None
    return replace(_missing(ctx, owner, _space_of(ctx, uid), EDITING_ROLES, uid), kept=True)


def _missing(ctx: RequestContext, owner: str, space: str, roles: Sequence[str], used: str) -> MissingRole:
    view = ctx.view
    titles = [role_title(view, role, space) for role in roles]
    givers = ctx.session.read_view(lambda view: view.holders(view.resource(space), "owner"))
    return MissingRole(
        owner=_name(ctx, owner) if owner else "",
        space=space,
        roles=tuple(roles),
        used=_describe_used(ctx, used),
        space_name=_name(ctx, space),
        role_titles=" or ".join(filter(None, (", ".join(titles[:-1]), titles[-1]))),
        givers=tuple(_name(ctx, each) for each in givers),
    )


def _describe_used(ctx: RequestContext, uid: str) -> str:
    """Return what a thing is called, and what is said instead to those who may not see it."""
    if VisibleRefs(ctx).sees(uid):
        return describe_resource(ctx.view, uid)
    return f"{kinds.schema_of(ctx.view, uid).title.lower()} that it uses, and that you do not see"


def _name(ctx: RequestContext, uid: str) -> str:
    return ctx.view.names.get(ctx.view.resource(uid)) or uid


def need(ctx: RequestContext, action: str, task: str) -> None:
    """Refuse unless the caller may do this with a task, and the owner of its project has the roles for it."""
    ctx.need_visible(task, action)
    if ctx.session.check(ctx.principal, action, task):
        return
    # To stop asks for the same of the caller, and for nothing of the owner.
    missing = missing_roles(ctx, task) if ctx.session.check(ctx.principal, "stop", task) else []
    if not missing:
        ctx.need(action, task)
    raise _refusal(ctx, action, task, missing[0])


def need_supplied(ctx: RequestContext, task: str, used: Iterable[str]) -> None:
    """Refuse unless the owner of a task's project has a role in the space of each thing that it uses."""
    project = project_of(ctx, task)
    for uid in used:
        missing = missing_role(ctx, project, uid)
        if missing is not None:
            raise _refusal(ctx, "run", task, missing)


def _refusal(ctx: RequestContext, action: str, task: str, missing: MissingRole) -> DeniedError:
    project = describe_resource(ctx.view, project_of(ctx, task))
    return DeniedError(
        f"The {describe_resource(ctx.view, task)} runs as the owner of the {project}. {missing.text}",
        missing.hint,
        action=action,
        resource=task,
        missing=missing.text,
    )
