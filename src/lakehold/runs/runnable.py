"""What a workspace tells of a kind that can be run: what it writes, and the steps that running one takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from lakehold.access.model.policy import MEMBER
from lakehold.catalog import resource_metadata
from lakehold.catalog.kinds import RequiredRight
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.runs.run_table import FAILED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakehold.lake.spark.tables import Tables


LONGEST_CURSOR = 200
NOTIFY = "notify"
"""The setting of a pipeline that names members who are told of its runs."""
WEBHOOK = "failure_webhook"
"""The setting of a pipeline or a workspace that is an address, and the credential that is its secret."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did."""

    rows: int = 0
    size: int = 0
    bad: int = 0
    """Rows that were kept aside, with the reason."""
    told: Mapping[str, object] = field(default_factory=dict)
    """What the next run has to know: a cursor, a place."""


class StepContext(Protocol):
    """What a step is done with."""

    @property
    def platform(self) -> Platform:
        """Where it is done."""

    @property
    def caller(self) -> Caller:
        """As whom."""

    @property
    def mark(self) -> str:
        """Names this step of this run: what is done under the same name is done once."""

    @property
    def folder(self) -> Path:
        """To work in; empty at first, and gone in the end."""

    @property
    def kept(self) -> Path:
        """To keep in what a step has to find again that was broken off; gone some time after the run."""

    @property
    def spark(self) -> SparkSession:
        """A session that knows no table."""

    @property
    def tables(self) -> Tables:
        """Tables, as the platform sees them."""

    def asked(self, workspace: str, text: str) -> tuple[DataFrame, frozenset[str]]:
        """The rows of a query, as the person whom the run is for: through the guard. And which tables it reads."""

    def reached(self) -> Mapping[str, object]:
        """What was noted of how far this step has come."""

    def note(self, reached: Mapping[str, object]) -> None:
        """Note how far it has come: it is there after a crash."""

    def log(self, text: str, level: str = "info") -> None:
        """Write a line for those who may see the run."""

    def go_on(self) -> None:
        """Refuse if somebody wants it to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing after another: what it is called, reads and writes. What doing it means, a worker knows."""

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


StepExecutors = Mapping[type[Step], Callable[[Any, StepContext], Done]]
"""How steps of each sort are done."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of what a pipeline reads: the values of its cursor from one on, and before another."""

    since: str = ""
    """The first that is wanted; empty for the very first."""
    until: str = ""
    """The first that is no longer wanted; empty if all that follow are."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run differs from an ordinary one."""

    reload: bool = False
    """All of it anew, not what is new."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """What else is to be done than what a run does; who may is what the kind says of them."""
    span: Span | None = None
    """Only this part, anew: a backfill."""

    def told(self) -> dict[str, object]:
        """As it is kept."""
        said: dict[str, object] = {"reload": self.reload, "parameters": dict(self.parameters)}
        return said | ({"span": [self.span.since, self.span.until]} if self.span else {})

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> RunOptions:
        """The one of which this was told."""
        span = told.get("span")
        return cls(told["reload"], told["parameters"], Span(*span) if span else None)

    def checked(self) -> RunOptions:
        """Itself, if it can be wanted."""
        span = self.span
        if span is None:
            return self
        if self.reload:
            raise InvalidInputError("A reload is all of it anew, and a span is a part.", "Ask for one of the two.")
        if not span.since and not span.until:
            raise InvalidInputError("The span has no beginning and no end.", "Give one of them, or reload.")
        if max(len(span.since), len(span.until)) > LONGEST_CURSOR:
            raise InvalidInputError("The span is no value of a cursor.", f"Use {LONGEST_CURSOR} characters at most.")
        return self

    @property
    def deed(self) -> str:
        """What the audit log calls it."""
        return "reload" if self.reload else "backfill" if self.span else "run"

    @property
    def is_special(self) -> bool:
        """Whether it is more than the next run would do by itself."""
        return self.reload or self.span is not None


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has come to its end, for those who say whom to tell of it."""

    run: str
    state: str
    problem: str
    started_by: str
    since: Moment = 0
    """When it was begun, or begun again the last time."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told of a run, and to whom."""

    deed: str
    """What became of it: has failed."""
    receivers: Sequence[str]
    said: str = ""
    page: str = ""
    """The path of the page on which one says whether one is told."""


class Runnable(Protocol):
    """A kind that can be run. What is asked of it is asked as the person whom the run is for."""

    kind: str
    trigger: str
    """The action that lets one run it."""
    schedule: str
    """The action that lets one say when it is run."""
    stop: str
    """The action that lets one stop it."""
    see: str
    """The action that lets one see its runs."""
    trigger_kind: str
    """The kind that its triggers are of; empty if its model has none."""
    choices: Mapping[str, Sequence[str]]
    """What a trigger may ask of its runs, by parameter."""

    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """The tables and volumes that it writes, or the layers that these will be in."""

    def right(self, wanted: RunOptions) -> str:
        """The action that lets one run it so."""

    def locks(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[str]:
        """What no other run may write meanwhile."""

    def steps(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[Step]:
        """What is to be done; a refusal if the person may not read or write what it takes. Nothing is done yet."""

    def notices(self, ctx: RequestContext, uid: str, ended: Ended) -> Sequence[Notice]:
        """Whom to tell of a run, of those who may know of it. Who is told by one notice is not told by the next."""

    def shown_with(self, ctx: RequestContext, uid: str) -> str:
        """What one has to see to see its runs: itself, or what they read."""

    def stopping(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """The rights of which one is enough to stop its runs."""

    def deleting(self, ctx: RequestContext, uid: str) -> RequiredRight | None:
        """The right to delete its runs; None if nobody may."""


class Alike(ABC):
    """What the kinds have in common of which each run is like the others."""

    trigger: str
    see: str
    stop: str
    trigger_kind = ""
    choices: Mapping[str, Sequence[str]] = MappingProxyType({})

    @abstractmethod
    def outputs(self, ctx: RequestContext, uid: str) -> Sequence[str]:
        """What it writes."""

    def right(self, wanted: RunOptions) -> str:
        """The same for every run."""
        del wanted
        return self.trigger

    def locks(self, ctx: RequestContext, uid: str, wanted: RunOptions) -> Sequence[str]:
        """What it writes."""
        del wanted
        return self.outputs(ctx, uid)

    def notices(self, ctx: RequestContext, uid: str, ended: Ended) -> Sequence[Notice]:
        """A failure is told to whom the run was for, or to those that the pipeline names; of these, who may see it."""
        if ended.state != FAILED:
            return ()
        names = named(ctx, uid)
        wanted = [ended.started_by] if names is None else names
        return (Notice("has failed", seeing(ctx, wanted, self.see, uid), ended.problem),)

    def shown_with(self, ctx: RequestContext, uid: str) -> str:
        """Itself."""
        del ctx
        return uid

    def stopping(self, ctx: RequestContext, uid: str) -> Sequence[RequiredRight]:
        """One of its own."""
        del ctx
        return (RequiredRight(self.stop, uid),)

    def deleting(self, ctx: RequestContext, uid: str) -> RequiredRight | None:
        """Nobody may."""
        del ctx, uid
        return None


def named(ctx: RequestContext, uid: str) -> list[str] | None:
    """The members that a pipeline names; None if it does not say."""
    found = resource_metadata.load(ctx, uid).settings.get(NOTIFY)
    return None if not isinstance(found, Sequence) or isinstance(found, str) else [str(each) for each in found]


def seeing(ctx: RequestContext, members: Iterable[str], action: str, uid: str) -> list[str]:
    """Those of them who are there and may do this, each once."""
    known = ((member, ctx.view.ids.get(member)) for member in dict.fromkeys(members))
    there = [member for member, number in known if number is not None and ctx.view.kind(number) == MEMBER]
    return [member for member in there if ctx.session.check(member, action, uid)]


class Runnables:
    """All kinds that can be run."""

    def __init__(self, found: Sequence[Runnable] = ()) -> None:
        self._by_kind = {each.kind: each for each in found}

    @property
    def kinds(self) -> Sequence[str]:
        """Their names."""
        return tuple(self._by_kind)

    def of(self, ctx: RequestContext, uid: str) -> Runnable:
        """How a resource is run; a refusal if it cannot be."""
        ctx.need_visible(uid)
        kind = ctx.view.kind(ctx.view.resource(uid))
        if kind not in self._by_kind:
            known, model = ctx.view.policy.kinds, kind.partition(".")[0]
            there = [known[each].schema.title.lower() for each in self._by_kind if each.startswith(f"{model}.")]
            title = known[kind].schema.title.lower()
            raise InvalidInputError(
                f"A {title} cannot be run.", f"What can be run here: {', '.join(there) or 'nothing'}."
            )
        return self._by_kind[kind]

    def __getitem__(self, kind: str) -> Runnable:
        """How a kind is run."""
        return self._by_kind[kind]

    def __contains__(self, kind: str) -> bool:
        """Whether the kind can be run."""
        return kind in self._by_kind
