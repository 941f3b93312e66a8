"""The kinds of resources in a project of data marts, and checks that a resource is of a kind."""

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

PROJECT_KIND = "marts.project"
STORAGE_KIND = "marts.storage"
DATA_MART_KIND = "marts.data_mart"
DESTINATION_KIND = "marts.destination"
REPORT_KIND = "marts.report"


def need_kind(ctx: RequestContext, uid: str, kind: str, action: str = "see") -> None:
    """Refuse a resource of another kind, or one that the caller does not see, for an intended action."""
    ctx.need_visible(uid, action)
    if ctx.view.kind(ctx.view.resource(uid)) != kind:
        word = kind.rpartition(".")[2].replace("_", " ")
        raise InvalidInputError(f"{quote(uid)} is no {word}.", "Choose one of the project's.")


def need_action(ctx: RequestContext, uid: str, kind: str, action: str = "see") -> None:
    """Refuse a resource of another kind, or with which the caller may not do this."""
    need_kind(ctx, uid, kind, action)
    ctx.need(action, uid)
