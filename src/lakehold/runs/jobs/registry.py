"""The kinds of background jobs: who may start one, and its options."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote, valid_id

ACCESS_REVIEW = "review"
FORMATS = ("arrow", "csv", "parquet")
MEDIA_TYPES = {
    ".arrow": "application/vnd.apache.arrow.file",
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
}


class JobKind(ABC):
    """One kind of background job."""

    fields: tuple[str, ...]

    def parse_options(self, ctx: RequestContext, options: Mapping[str, object]) -> dict[str, object]:
        """Validate the options; empty ones are left out."""
        for name in options:
            if name not in self.fields:
                raise InvalidInputError(f"There is no field {quote(name)} here.", f"Use {', '.join(self.fields)}.")
        return self._parse_options(ctx, {name: value for name, value in options.items() if value is not None})

    @abstractmethod
    def _parse_options(self, ctx: RequestContext, options: Mapping[str, object]) -> dict[str, object]:
        """Validate the options of this kind."""

    @abstractmethod
    def need(self, ctx: RequestContext, options: Mapping[str, object]) -> None:
        """Refuse a caller who may not have this: at the start of the job, and for its result."""


class AccessReviewKind(JobKind):
    """The access review: every member × resource × action."""

    fields = ("format", "kinds", "inside")

    def _parse_options(self, ctx: RequestContext, options: Mapping[str, object]) -> dict[str, object]:
        parsed: dict[str, object] = {"format": _one_of("format", options.get("format", "parquet"), FORMATS)}
        if "kinds" in options:
            parsed["kinds"] = [ctx.view.policy.kind(kind).id for kind in _texts("kinds", options["kinds"])]
        if "inside" in options:
            parsed["inside"] = valid_id(options["inside"], "inside")
        return parsed

    def need(self, ctx: RequestContext, options: Mapping[str, object]) -> None:
        """Require the right to ask about others. The rows are limited to what the caller may see."""
        ctx.need("ask_about_others", ctx.caller.tenant)
        if "inside" in options:
            ctx.need_visible(str(options["inside"]))


_KINDS: Mapping[str, JobKind] = {ACCESS_REVIEW: AccessReviewKind()}


def get_job_kind(kind: str) -> JobKind:
    """Return the kind of this name."""
    found = _KINDS.get(kind)
    if found is None:
        raise InvalidInputError(f"There is no kind of job {quote(kind)}.", f"Use {', '.join(_KINDS)}.")
    return found


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise InvalidInputError(f"The {name} {quote(str(value))} is not known.", f"Use {', '.join(known)}.")
    return value


def _texts(name: str, value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise InvalidInputError(f"{name} is a list of texts.", "For example: lakehouse.table.")
    return list(value)
