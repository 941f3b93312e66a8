"""The kinds of jobs: who may start one, and what it has to be told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime

from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import to_moment
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote, valid_id
from lakehold.ledger.audit import AuditFilter

REVIEW, AUDIT = "review", "audit export"
FORMATS = ("arrow", "csv", "parquet")
MEDIA = {
    ".arrow": "application/vnd.apache.arrow.file",
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl": "application/jsonl",
}


class Kind(ABC):
    """One kind of job."""

    fields: tuple[str, ...]

    def read(self, ctx: RequestContext, wanted: Mapping[str, object]) -> dict[str, object]:
        """What is wanted, checked; what says nothing is left out."""
        for name in wanted:
            if name not in self.fields:
                raise InvalidInputError(f"There is no field {quote(name)} here.", f"Use {', '.join(self.fields)}.")
        return self._read(ctx, {name: value for name, value in wanted.items() if value is not None})

    @abstractmethod
    def _read(self, ctx: RequestContext, wanted: Mapping[str, object]) -> dict[str, object]:
        """The same for this kind."""

    @abstractmethod
    def need(self, ctx: RequestContext, asked: Mapping[str, object]) -> None:
        """Refuse whoever may not have this: when it is asked for, when it starts, and when its result is taken."""


class ReviewKind(Kind):
    """Every member × resource × action."""

    fields = ("format", "kinds", "inside")

    def _read(self, ctx: RequestContext, wanted: Mapping[str, object]) -> dict[str, object]:
        asked: dict[str, object] = {"format": _one_of("format", wanted.get("format", "parquet"), FORMATS)}
        if "kinds" in wanted:
            asked["kinds"] = [ctx.view.policy.kind(kind).id for kind in _texts("kinds", wanted["kinds"])]
        if "inside" in wanted:
            asked["inside"] = valid_id(wanted["inside"], "inside")
        return asked

    def need(self, ctx: RequestContext, asked: Mapping[str, object]) -> None:
        """Who may ask what others may do. The rows are about what the asker may know of, and nothing else."""
        ctx.need("ask_about_others", ctx.caller.tenant)
        if "inside" in asked:
            ctx.need_visible(str(asked["inside"]))


class AuditKind(Kind):
    """The audit log as a file."""

    fields = ("member", "resource", "action", "outcome", "since", "until")

    def _read(self, ctx: RequestContext, wanted: Mapping[str, object]) -> dict[str, object]:
        del ctx
        asked: dict[str, object] = {name: valid_id(wanted[name], name) for name in self.fields[:4] if name in wanted}
        for name in self.fields[4:]:
            if name in wanted:
                asked[name] = _moment(name, wanted[name])
        return asked

    def need(self, ctx: RequestContext, asked: Mapping[str, object]) -> None:
        """Who may see the log."""
        del asked
        ctx.need("see_audit", ctx.caller.tenant)


_KINDS: Mapping[str, Kind] = {REVIEW: ReviewKind(), AUDIT: AuditKind()}


def known(kind: str) -> Kind:
    """The kind of this name."""
    found = _KINDS.get(kind)
    if found is None:
        raise InvalidInputError(f"There is no kind of job {quote(kind)}.", f"Use {', '.join(_KINDS)}.")
    return found


def filter_of(asked: Mapping[str, object]) -> AuditFilter:
    """Which entries of the log are wanted."""
    return AuditFilter(**asked)  # type: ignore[arg-type]


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise InvalidInputError(f"The {name} {quote(str(value))} is not known.", f"Use {', '.join(known)}.")
    return value


def _texts(name: str, value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise InvalidInputError(f"{name} is a list of texts.", "For example: lakehouse.table.")
    return list(value)


def _moment(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | datetime):
        raise InvalidInputError(f"{name} is a time.", "Give it with its time zone.")
    return to_moment(value)
