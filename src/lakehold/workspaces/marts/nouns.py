"""What there is in a project of marts, by the ids of its kinds; and whether something is such a thing."""

from __future__ import annotations

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

PROJECT = "marts.project"
STORAGE = "marts.storage"
DATA_MART = "marts.data_mart"
DESTINATION = "marts.destination"
REPORT = "marts.report"


def need_kind(ctx: RequestContext, uid: str, kind: str, action: str = "see") -> None:
    """Refuse what the caller does not see, and what is of another kind. The action is what they came for."""
    ctx.need_visible(uid, action)
    if ctx.view.kind(ctx.view.resource(uid)) != kind:
        word = kind.rpartition(".")[2].replace("_", " ")
        raise InvalidInputError(f"{quote(uid)} is no {word}.", "Choose one of the project's.")


def need(ctx: RequestContext, uid: str, kind: str, action: str = "see") -> None:
    """Refuse also what they may not do this with."""
    need_kind(ctx, uid, kind, action)
    ctx.need(action, uid)
