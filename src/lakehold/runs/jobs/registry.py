"""The kinds of background jobs: who may start one, and its options. So far there is one, the access review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote, valid_id

ACCESS_REVIEW = "review"
"""Every member × resource × action."""
MEDIA_TYPES = {
    ".arrow": "application/vnd.apache.arrow.file",
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
}
FORMATS = tuple(suffix.removeprefix(".") for suffix in MEDIA_TYPES)
_FIELDS = ("format", "kinds", "inside")


def parse_options(ctx: RequestContext, kind: str, options: Mapping[str, object]) -> dict[str, object]:
    """Validate the options of a job; empty ones are left out."""
    _check_kind(kind)
    for name in options:
        if name not in _FIELDS:
            raise InvalidInputError(f"There is no field {quote(name)} here.", f"Use {', '.join(_FIELDS)}.")
    given = {name: value for name, value in options.items() if value is not None}
    form = given.get("format", "parquet")
    if not isinstance(form, str) or form not in FORMATS:
        raise InvalidInputError(f"The format {quote(str(form))} is not known.", f"Use {', '.join(FORMATS)}.")
    parsed: dict[str, object] = {"format": form}
    if "kinds" in given:
        parsed["kinds"] = [ctx.view.policy.kind(each).id for each in _texts(given["kinds"])]
    if "inside" in given:
        parsed["inside"] = valid_id(given["inside"], "inside")
    return parsed


def need(ctx: RequestContext, kind: str, options: Mapping[str, object]) -> None:
    """Refuse a caller who may not ask about others: at the start of the job, and for its result.

    The rows are limited to what the caller may see.
    """
    _check_kind(kind)
    ctx.need("ask_about_others", ctx.caller.tenant)
    if "inside" in options:
        ctx.need_visible(str(options["inside"]))


def _check_kind(kind: str) -> None:
    if kind != ACCESS_REVIEW:
        raise InvalidInputError(f"There is no kind of job {quote(kind)}.", f"Use {ACCESS_REVIEW}.")


def _texts(value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise InvalidInputError("kinds is a list of texts.", "For example: lakehouse.table.")
    return list(value)
