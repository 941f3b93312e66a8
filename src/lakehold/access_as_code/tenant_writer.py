"""Applies plans as their caller, with the right to every change, and audited.

Who may export the whole tenant may also restore it: about what a plan creates, which holds no data yet, its files
decide alone, whoever's it is. What exists already is changed, and pointed at, with the right that the models ask for.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from lakehold import workspaces
from lakehold.access.facts.descriptions import describe_resource
from lakehold.access.facts.records import Adopt, Change, Draft, mentioned_ids
from lakehold.access.model.policy import MEMBER, TENANT
from lakehold.access_as_code import file_format
from lakehold.access_as_code.desired_state import DesiredState
from lakehold.access_as_code.metadata import load_metadata, trigger_entry, without_local
from lakehold.access_as_code.plan import ChangePlan, apply_plan, make_plan, refuse_outdated
from lakehold.access_as_code.tenant_state import SUBJECTS, EntryMetadata
from lakehold.catalog import credentials, kinds, network_policy, resource_edit, resource_metadata, resource_view
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import accounts, member_removal, members
from lakehold.directory.caller import Caller
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import BusyError, ConflictError, ForbiddenError, InvalidInputError, LakeholdError
from lakehold.kit.ids import quote
from lakehold.kit.secret_headers import split_secrets
from lakehold.runs.scheduler.service import Trigger, Triggers
from lakehold.runs.service import Runs
from lakehold.workspaces import registry

EXPORT = "export"
_MAX_LISTED = 100


class TenantWriter:
    """Makes changes as a caller, and collects all refusals. If there are any, the transaction must be rolled back."""

    def __init__(self, ctx: RequestContext) -> None:
        self.ctx = ctx
        self.session = ctx.session
        self.refusals: list[LakeholdError] = []
        self._created: dict[str, str] = {}
        """The kinds of what was created, by id."""
        caller = ctx.caller
        self._restores = caller.narrowed is None and ctx.session.check(caller.principal, EXPORT, caller.tenant)

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str | None = None,
        edges: EdgeTargets | None = None,
        attributes: Mapping[str, str | bool] | None = None,
    ) -> str:
        """Create a resource. Only the files say who owns it, so its creator gets no role."""
        draft = Draft(kind, edges or {}, attributes or {})
        ends = [end for each in draft.edges.values() for end in ((each,) if isinstance(each, str) else each)]
        self._need(lambda: self.ctx.need_draft(draft), *(end for end in ends if end != self.ctx.caller.tenant))
        created = self.ctx.create_unchecked(draft, name, uid=uid)
        self._created[created] = kind
        return created

    def make(self, change: Change, *, since: Moment | None = None, until: Moment | None = None) -> None:
        """Make a change of facts or models."""
        if isinstance(change, Adopt):
            self.ctx.make(change)
            return
        # A role or an attribute is a matter of the resource alone; both ends of an edge have a say.
        resource, *others = mentioned_ids(change.fact)
        ends = [resource, *(other for other in others if self._kind(other) not in SUBJECTS)]
        self._need(lambda: self.ctx.need_change(change), *ends)
        self.ctx.make_unchecked(change, since=since, until=until)
        part = resource_edit.part_of_change(self.ctx.view, change)
        if part is not None and resource not in self._created:
            resource_metadata.record_author(self.ctx, resource, (part,))

    def rename(self, uid: str, name: str) -> None:
        """Rename an entry. The tenant is renamed by those who may restore it."""
        if self._kind(uid) == TENANT:
            self._need(lambda: self.ctx.need(EXPORT, uid), uid)
        else:
            self._need(lambda: kinds.need_right(self.ctx, uid, "edit"), uid)
        self.ctx.rename_unchecked(uid, name)

    def delete(self, uid: str) -> None:
        """Delete an entry with its metadata and credentials, or remove a member."""
        ctx, number, kind = self.ctx, self.ctx.view.resource(uid), self._kind(uid)
        if kind == MEMBER:
            self._need(lambda: member_removal.remove(ctx, uid), uid)
        else:
            self._need(lambda: kinds.need_right(ctx, uid, "delete"), uid)
        if ctx.view.ids.get(uid) is not None:
            ctx.delete_unchecked(uid)
        resource_metadata.clear_deleted(ctx, number, kind)
        credentials.delete_all(ctx, number)

    def save_metadata(self, entries: Mapping[str, EntryMetadata]) -> None:
        """Save the metadata of the plan, and that of everything created, whose author the caller is without another."""
        for uid, kind in self._created.items():
            if not kind.startswith(f"{MEMBER.partition('.')[0]}."):
                with self._collecting(uid):
                    self._save_new(uid, kind, self._save_file_settings(uid, entries.get(uid, _NOTHING)))
        # First the tenant: what else the files change is held to their network policy.
        for uid, entry in sorted(entries.items(), key=lambda each: each[0] != self.ctx.caller.tenant):
            with self._collecting(uid):
                if self._kind(uid) == MEMBER:
                    self._save_account(uid, entry)
                elif self._kind(uid) == TENANT:
                    self._save_tenant(entry)
                elif uid not in self._created:
                    entry = self._save_file_settings(uid, entry)  # noqa: PLW2901 - without what is saved by then
                    before = without_local(self._kind(uid), resource_metadata.load(self.ctx, uid).settings)
                    # Whoever applies files has read the settings: to leave them as they are needs no right.
                    settings = None if entry.settings == before else entry.settings
                    edit = ResourceEdit(description=entry.description, settings=settings)
                    resource_edit.apply_edit(self.ctx, uid, edit)
            credentials.expect(self.ctx, uid, entry.credentials)

    def save_schedules(self, entries: Mapping[str, EntryMetadata]) -> None:
        """Save the schedules of the plan, delete those that it does not name, and refuse triggers without one."""
        ctx, triggers = self.ctx, Triggers(Runs(workspaces.runnables()))
        present = {each.id: each for each in triggers.load_all(ctx)}
        for uid, entry in entries.items():
            resource = kinds.parent_of(ctx.view, uid) if registry.describe_kind(self._kind(uid)).is_trigger else uid
            for trigger, schedule in entry.schedules.items():
                assert resource is not None  # noqa: S101 - a trigger lies in what it runs
                with self._collecting(trigger):
                    self._save_schedule(triggers, resource, trigger, schedule, present.get(trigger))
            for each in present.values():
                if trigger_entry(ctx, each) == uid and each.id not in entry.schedules:
                    self._need_schedule(each.resource)
                    triggers.delete_unchecked(ctx, each)
        for uid, kind in self._created.items():
            if registry.describe_kind(kind).is_trigger and uid not in entries.get(uid, _NOTHING).schedules:
                hint = "Write it as `schedule:`, or remove the entry."
                self.refusals.append(InvalidInputError(f"The trigger {quote(uid)} has no schedule.", hint))

    def _save_new(self, uid: str, kind: str, entry: EntryMetadata) -> None:
        """Save the metadata of a new resource, with the settings that else only the platform sets."""
        ctx = self.ctx
        plain = resource_metadata.without_managed(kind, entry.settings)
        managed = {name: value for name, value in entry.settings.items() if name not in plain}
        settings, secrets = split_secrets(resource_metadata.valid_for_kind(kind, {}, plain, managed))
        resource_view.need_references(ctx, kind, {}, settings, uid)
        if not self._restores:
            # What the policy of the files refuses comes back as it was: listed as refused, and it cannot run.
            network_policy.need_allowed(ctx, kind, settings)
        authors = {_part(name): self._author(value) for name, value in entry.authors.items()}
        resource_metadata.create(ctx, uid, description=entry.description, settings=settings, authors=authors)
        credentials.save_headers(ctx, uid, settings, secrets)

    def _save_file_settings(self, uid: str, entry: EntryMetadata) -> EntryMetadata:
        """Save the settings of an entry that are stored elsewhere, and return it without them."""
        own = dict(entry.settings)
        for name, stored in registry.describe_kind(self._kind(uid)).file_settings.items():
            if stored.save(self.ctx, uid, own.pop(name, None)):
                self._need(lambda: kinds.need_right(self.ctx, uid, "edit"), uid)
        return replace(entry, settings=own)

    def _author(self, value: object) -> Caller | None:
        """Return an author as files have it. Who is no member any more stays the author, so that nobody else is."""
        if value is None:
            return None
        scope = dict(value) if isinstance(value, Mapping) else {"member": value}
        member, own = str(scope.pop("member")), self.ctx.caller
        if member == own.member and not scope:
            return own
        if own.narrowed is not None:
            raise ForbiddenError("A narrowed token makes nobody else an author.", "Use one that is not narrowed.")
        if self.ctx.view.ids.get(member) is not None and self._kind(member) != MEMBER:
            raise InvalidInputError(f"{quote(member)} is no member.", "Name the member who is the author.")
        return Caller.from_stored(own.tenant, {"member": member, **({"narrowed": scope} if scope else {})})

    def _save_tenant(self, entry: EntryMetadata) -> None:
        if entry.description:
            raise InvalidInputError("The tenant has no description.", "Leave it out.")
        network_policy.save_tenant_settings(self.ctx, entry.settings)

    def _save_account(self, uid: str, entry: EntryMetadata) -> None:
        if entry.email:
            members.set_email(self.ctx, uid, entry.email)
        elif entry.service and accounts.get(self.ctx, uid) is None:
            accounts.add(self.ctx, uid, service=True)
            self.ctx.note("make service account", uid)

    def _save_schedule(
        self, triggers: Triggers, resource: str, uid: str, values: Mapping[str, object], present: Trigger | None
    ) -> None:
        if present is not None and present.resource != resource:
            raise ConflictError(f"The trigger {quote(uid)} belongs to {quote(present.resource)}.", "Rename it.")
        self._need_schedule(resource)
        starter = str(values.get("starter") or self.ctx.caller.member)
        self.ctx.view.member(starter)
        parameters = values.get("parameters")
        trigger = Trigger(
            uid,
            resource,
            file_format.schedule_of(values),
            values.get("enabled") is not False,
            parameters=parameters if isinstance(parameters, Mapping) else {},
        )
        own = starter == self.ctx.caller.member
        if not own and self.ctx.caller.narrowed is not None:
            raise ForbiddenError("A narrowed token may not let others start runs.", "Use one that is not narrowed.")
        triggers.save_unchecked(self.ctx, trigger, self.ctx.caller if own else Caller(self.ctx.caller.tenant, starter))

    def _need_schedule(self, resource: str) -> None:
        ctx, runnables = self.ctx, workspaces.runnables()
        self._need(lambda: ctx.need(runnables.for_resource(ctx, resource).schedule, resource), resource)

    def _need(self, need: Callable[[], object], *ends: str) -> None:
        """Collect the refusal of a change, unless all that it is about was created by the same plan."""
        if self._restores and all(end in self._created for end in ends):
            return
        try:
            need()
        except (ForbiddenError, HiddenError) as error:
            self.refusals.append(self._describe(error))

    def _describe(self, error: ForbiddenError | HiddenError) -> LakeholdError:
        """Name what the caller does not see, but has in the files, and whose it is."""
        view = self.ctx.view
        if not isinstance(error, HiddenError) or not self._restores or view.ids.get(error.resource) is None:
            return error
        held = resource_view.owners_of(view, error.resource).values()
        owners = [view.names.get(view.resource(uid)) or uid for each in held for uid in each]
        message = f"You may not change {describe_resource(view, error.resource)}, which you do not see."
        return ForbiddenError(message, f"Can be changed by {', '.join(owners)}." if owners else "")

    @contextmanager
    def _collecting(self, uid: str) -> Iterator[None]:
        """Collect the refusal of what is saved for an entry."""
        try:
            yield
        except BusyError:
            raise
        except (ForbiddenError, HiddenError) as error:
            self.refusals.append(self._describe(error))
        except LakeholdError as error:
            self.refusals.append(InvalidInputError(f"{quote(uid)}: {error.message}", error.hint))

    def _kind(self, uid: str) -> str:
        return self.ctx.view.kind(self.ctx.view.resource(uid))


_NOTHING = EntryMetadata()


def _part(name: str) -> str:
    return resource_metadata.WHOLE if name == file_format.DEFINITION else name


def plan_as_caller(
    ctx: RequestContext, desired: DesiredState, *, keep: bool = False, kept: ChangePlan | None = None
) -> ChangePlan:
    """Return the plan, with what the caller would lose and the secrets to enter; refused if a kept plan differs."""
    if kept is not None:
        refuse_outdated(ctx.session, kept, desired)
    plan = make_plan(ctx.session, desired, load_metadata(ctx), keep=keep)
    if kept is not None and (kept.steps, kept.metadata) != (plan.steps, plan.metadata):
        raise ConflictError("The tenant has changed since the plan was made.", "Create a new plan, and check it.")
    expected = {uid: entry.credentials for uid, entry in plan.metadata.items() if entry.credentials}
    names = credentials.load_all_names(ctx)
    missing = {
        **credentials.load_all_names(ctx, missing=True),
        **{uid: new for uid, each in expected.items() if (new := sorted({*each} - {*names.get(uid, ())}))},
    }
    return replace(plan, applier_losses=plan.losses(ctx.caller.member), missing_credentials=missing)


def apply_as_caller(ctx: RequestContext, plan: ChangePlan, desired: DesiredState, *, accept_loss: bool = False) -> None:
    """Apply a plan with its metadata and schedules, or name all rights that are missing. Losses must be accepted."""
    if plan.applier_losses and not accept_loss:
        lost = "\n".join(f"  {line}" for line in plan.applier_losses)
        hint = "Name yourself in the files, keep what they do not name (--keep), or accept it with --accept-loss."
        raise ConflictError(f"By applying this, you would lose:\n{lost}\n", hint, code="applier_loses")
    refusals = _apply(ctx, plan, desired)
    if not refusals:
        return
    listed = [str(each) for each in refusals[:_MAX_LISTED]]
    if len(refusals) > len(listed):
        listed.append(f"… and {len(refusals) - len(listed)} more.")
    is_right = any(isinstance(each, ForbiddenError | HiddenError) for each in refusals)
    raise (ForbiddenError if is_right else InvalidInputError)("\n".join(listed), "Nothing was changed.")


def find_refusals(ctx: RequestContext, plan: ChangePlan, desired: DesiredState) -> tuple[str, ...]:
    """Return everything that stands against applying a plan: apply it, and roll it back. Needs a transaction that
    writes, in which nothing else is written.
    """
    transaction = ctx.session.transaction
    savepoint = transaction.connection.begin_nested()
    try:
        return tuple(dict.fromkeys(map(str, _apply(ctx, plan, desired))))
    except BusyError:
        raise
    except LakeholdError as error:
        return (str(error),)
    finally:
        savepoint.rollback()
        # Also what would be written or announced with the commit, such as audit entries.
        transaction.before_commit.clear()
        transaction.after_commit.clear()


def _apply(ctx: RequestContext, plan: ChangePlan, desired: DesiredState) -> list[LakeholdError]:
    writer = TenantWriter(ctx)

    def save() -> None:
        writer.save_metadata(plan.metadata)
        writer.save_schedules(plan.metadata)

    apply_plan(writer, plan, desired, applier=ctx.caller.member, before_last=save)
    found = {str(each): each for each in writer.refusals}
    return list(found.values())
