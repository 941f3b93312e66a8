"""A table kept up, or rolled back to what it was: from the list of its snapshots, each as a run."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.lake.table_metadata import IcebergSnapshot
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse.frames import need_table
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import maintenance

routes = router("/resources")

_SURE = "What was written since stays among the snapshots until it expires, and can be rolled back to."


def keeping(ctx: RequestContext, uid: str) -> list[PageAction]:
    """What is done for the table as a whole."""
    keep = PageAction("Keep it up", urls.resource(uid, "snapshots/upkeep"), "post", "sparkles")
    return resource_header.actions_of(ctx, uid, {"write": keep})


def rolling_back(ctx: RequestContext, uid: str, each: IcebergSnapshot) -> PageAction | None:
    """Back to this one, for who may."""
    if not ctx.session.check(ctx.asker, "rollback", uid):
        return None
    return PageAction(
        "Roll back",
        urls.resource(uid, "snapshots/rollback"),
        "post",
        "undo-2",
        fields=(("snapshot", str(each.id)),),
        confirm=f"Roll back to what it was? {_SURE}",
    )


@routes.post("/{uid:path}/snapshots/upkeep")
def keep(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Few files of many, no old snapshots, nothing of nobody's."""
    found = need_table(ctx, uid, "write")
    return pages.redirect(
        request, urls.run(maintenance.maintain_table(ctx, uid).id), Flash(f"{found.name} is being kept up.")
    )


@routes.post("/{uid:path}/snapshots/rollback")
def roll_back(request: Request, ctx: WriteContext, lake: CurrentLake, uid: str, sent: SubmittedForm) -> Response:
    """As it was, once they are sure."""
    found, number = need_table(ctx, uid, "rollback"), str(sent.get("snapshot", ""))
    if not number.lstrip("-").isascii() or not number.lstrip("-").isdigit():
        raise InvalidInputError("That is no snapshot.", "Choose one from the list.")
    back = urls.resource(uid, "snapshots")
    question = f"Roll {found.name} back to what it was?"
    if asked := confirm(request, sent, question, _SURE, do="Roll back", back=back):
        return asked
    run = maintenance.roll_back_table(ctx, lake, uid, int(number))
    return pages.redirect(request, urls.run(run.id), Flash(f"{found.name} is being rolled back."))
