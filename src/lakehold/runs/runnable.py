"""The interface of a kind that can be run: what it writes, its steps, its rights, and who is notified of its runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from lakehold.access.model.policy import MEMBER
from lakehold.catalog import resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.network_policy import NetworkTarget, PolicyList, target_of_url
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord
from lakehold.runs.run_table import FAILED
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces import registry

MAX_CURSOR_LENGTH = 200
NOTIFY_SETTING = "notify"
"""The setting of a pipeline that names the members who are notified of its runs."""
WEBHOOK_SETTING = "failure_webhook"
"""The setting of a pipeline or a workspace that is an address, and the credential that is its secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(SettingsRecord):
    """The settings that all pipelines and workspaces have."""

    notify: tuple[str, ...] = ()
    """The members who are notified of its runs."""
    failure_webhook: str = ""
    """The address that failures are sent to; its secret is the credential of the same name."""

    def __post_init__(self) -> None:
        if not self.failure_webhook:
            return
        parts = urlsplit(self.failure_webhook)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            hint = "Use https:// with host and path."
            raise InvalidSettingError("The webhook for failures is not a URL.", hint, field=WEBHOOK_SETTING)
        if parts.username is not None or parts.password is not None:
            hint = "Leave it out: requests are signed."
            raise InvalidSettingError("The webhook for failures contains a password.", hint, field=WEBHOOK_SETTING)

    def network_targets(self, secrets: Mapping[str, str]) -> Iterator[NetworkTarget]:  # noqa: ARG002 - it has none
        """Return the host of the webhook, if there is one."""
        if self.failure_webhook:
            yield target_of_url(PolicyList.DESTINATIONS, self.failure_webhook, WEBHOOK_SETTING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a run: its name, and what it reads and writes. Executors are registered by the class of the step."""

    identity: ClassVar[str] = "name"
    """The field by which a run that goes on finds its step in the definition as it is by then: what it is about."""

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    stage: int | None = None
    """Steps of the same stage, one behind the other in a plan, are executed at the same time."""


StepExecutors = Mapping[type[Step], Callable[[Any, StepContext], StepResult]]
"""The executors of steps, by the class of the step."""


@dataclass(frozen=True, slots=True)
class BackfillSpan:
    """A range of cursor values to load again: from one on, and before another."""

    since: str = ""
    """The first cursor value; empty for no lower bound."""
    until: str = ""
    """The first cursor value that is not included; empty for no upper bound."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run that differs from an ordinary one."""

    reload: bool = False
    """All of it anew, not what is new."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """The values of the kind's own parameters; the kind also decides who may set them."""
    span: BackfillSpan | None = None
    """Only this part, anew: a backfill."""

    def to_json(self) -> dict[str, object]:
        """Return the options as JSON."""
        values: dict[str, object] = {"reload": self.reload, "parameters": dict(self.parameters)}
        return values | ({"span": [self.span.since, self.span.until]} if self.span else {})

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RunOptions:
        """Return the options that `to_json` gave."""
        span = values.get("span")
        return cls(values["reload"], values["parameters"], BackfillSpan(*span) if span else None)

    def validate(self) -> RunOptions:
        """Return the options themselves, or raise if they contradict each other."""
        if self.span is None:
            return self
        longest = max(len(self.span.since), len(self.span.until))
        if self.reload:
            raise InvalidInputError("A full refresh and a backfill cannot be combined.", "Choose one of them.")
        if not longest:
            hint = "Set one of them, or run a full refresh."
            raise InvalidInputError("The range has neither a start nor an end.", hint)
        if longest > MAX_CURSOR_LENGTH:
            hint = f"Use {MAX_CURSOR_LENGTH} characters at most."
            raise InvalidInputError("The range is not valid for a cursor.", hint)
        return self


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has ended, from which its notices are made."""

    run: str
    state: str
    problem: str
    started_by: str
    since: Moment = 0
    """When it was begun, or begun again the last time."""


@dataclass(frozen=True, slots=True)
class RunNotice:
    """A notification of a run, and its receivers."""

    summary: str
    """What became of it: has failed."""
    receivers: Sequence[str]
    message: str = ""
    settings_path: str = ""
    """The path of the page on which members subscribe and unsubscribe."""


class DefinitionPart(NamedTuple):
    """A part of a definition that a step executes, by the resource whose settings or edges it is."""

    resource: str
    name: str = resource_metadata.WHOLE


def parts_of(kind: str, uid: str, *without: str) -> list[DefinitionPart]:
    """Return all parts of a resource's definition but some, the whole first."""
    schema = registry.find_settings_schema(kind)
    named = [name for name in (schema.parts if schema else ()) if name not in without]
    return [DefinitionPart(uid), *(DefinitionPart(uid, name) for name in named)]


class Runnable(ABC):
    """A kind that can be run, with defaults for kinds whose runs need the same right each time.

    Its methods are called as the caller of the run.
    """

    kind: str
    trigger: str
    """The action that lets one run it."""
    schedule: str
    """The action that lets one say when it is run."""
    stop: str
    """The action that lets one stop it."""
    see: str
    """The action that lets one see its runs."""
    trigger_kind = ""
    """The kind that its triggers are of; empty if its model has none."""
    choices: Mapping[str, Sequence[str]] = MappingProxyType({})
    """The values that a trigger may set for its runs, by parameter."""
    needs_authors = True
    """Whether its runs need the rights of the authors of its definition; False if somebody else takes their place."""
    private_errors = False
    """Whether errors of its runs leave out values and what other systems say.

    Those who see its runs may not see what it reads and where it writes. Who has all of its `private_rights` finds the
    whole text in the log.
    """
    reloads = True
    """Whether its page offers to load all of it anew; False for what has been sent and cannot be taken back."""

    @abstractmethod
    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """Return the tables and volumes that it writes, or the layers in which they will be created."""

    @abstractmethod
    def steps(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[Step]:
        """Return the steps of a run, or refuse if the caller may not read or write what it takes. Executes nothing."""

    @abstractmethod
    def need_step(self, ctx: RequestContext, uid: str, step: Step) -> None:
        """Refuse a step of a run that has begun if the caller may no longer read or write what it takes."""

    def definition(self, uid: str, step: Step) -> Sequence[DefinitionPart]:
        """Return the parts of definitions that say what a step does; none if only the options of the run do."""
        del step
        return parts_of(self.kind, uid)

    def start_action(self, options: RunOptions) -> str:
        """Return the action that is needed to start a run with these options."""
        del options
        return self.trigger

    def need_start(self, ctx: RequestContext, uid: str, options: RunOptions) -> None:
        """Refuse unless the caller may start a run with these options."""
        ctx.need(self.start_action(options), uid)

    def locks(self, ctx: RequestContext, uid: str, options: RunOptions) -> Sequence[str]:
        """Return the resources that no other run may write meanwhile."""
        del options
        return self.outputs(ctx, uid)

    def notices(self, ctx: RequestContext, uid: str, ended: EndedRun) -> Sequence[RunNotice]:
        """Return the notices of an ended run. A receiver of one notice does not get the next one.

        By default the member who started a failed run gets one, or those whom the pipeline names, if they may see it.
        """
        if ended.state != FAILED:
            return ()
        names = notified_members(ctx, uid)
        members = [ended.started_by] if names is None else names
        return (RunNotice("has failed", members_allowed(ctx, members, self.see, uid), ended.problem),)

    def visible_through(self, ctx: RequestContext, uid: str) -> str:
        """Return the resource that one must see to see its runs: itself, or what they read."""
        del ctx
        return uid

    def private_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return the rights that let one read what other systems say: by default to edit it."""
        del ctx
        return (RequiredRight("edit", uid),)

    def run_details(self, ctx: RequestContext, uid: str) -> Mapping[str, object]:
        """Return what the audit log says of a run beside its cause, such as in whose context it runs."""
        del ctx, uid
        return {}

    def stop_rights(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """Return the rights of which one is enough to stop its runs."""
        del ctx
        return (RequiredRight(self.stop, uid),)

    def delete_right(self, ctx: RequestContext, uid: str) -> RequiredRight | None:
        """Return the right to delete its runs, or None if nobody may."""
        del ctx, uid
        return None


def notified_members(ctx: RequestContext, uid: str) -> list[str] | None:
    """Return the members that the setting `notify` of a pipeline names, or None if it is not set."""
    found = resource_metadata.load(ctx, uid).settings.get(NOTIFY_SETTING)
    return None if not isinstance(found, Sequence) or isinstance(found, str) else [str(each) for each in found]


def members_allowed(ctx: RequestContext, members: Iterable[str], action: str, uid: str) -> list[str]:
    """Return those of the members who exist and may do this, each once."""
    known = ((member, ctx.view.ids.get(member)) for member in dict.fromkeys(members))
    there = [member for member, number in known if number is not None and ctx.view.kind(number) == MEMBER]
    return [member for member in there if ctx.session.check(member, action, uid)]


class RunnableRegistry(UserDict[str, Runnable]):
    """The registry of all kinds that can be run, by the ids of the kinds."""

    def for_resource(self, ctx: RequestContext, uid: str) -> Runnable:
        """Return the runnable of a resource, or refuse if it cannot be run."""
        ctx.need_visible(uid)
        kind = ctx.view.kind(ctx.view.resource(uid))
        if kind not in self:
            model = kind.partition(".")[0]
            alike = [kind, *(each for each in self if each.startswith(f"{model}."))]
            title, *runnable = (ctx.view.policy.kinds[each].schema.title.lower() for each in alike)
            hint = f"These can be run: {', '.join(runnable) or 'nothing'}."
            raise InvalidInputError(f"A {title} cannot be run.", hint)
        return self[kind]


def refuse_backfill(options: RunOptions, label: str) -> None:
    """Refuse a backfill of a pipeline that can only be run as a whole."""
    if options.span is not None:
        raise InvalidInputError(
            f"A {label} cannot be backfilled.",
            "Backfill a source that is read by a cursor, or a query that names one; then run this.",
        )
