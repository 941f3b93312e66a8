"""Who may?"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from lakehold.api.access.asking import Asking, Named, need_others
from lakehold.api.frame.models import IdText, Time, Word
from lakehold.api.frame.paging import Page, Paged
from lakehold.api.frame.routes import router
from lakehold.api.frame.works import Reading
from lakehold.kit.ids import fold_name

routes = router("/api/v1/access/who", "Access")

As = Annotated[
    Time | None, Query(description="Ask as of this moment instead of now.", examples=["2031-05-04T10:30:00Z"])
]


@routes.get("")
def who_may(ctx: Reading, paged: Paged, action: Word, resource: IdText, at: As = None) -> Page[Named]:
    """Who may do this?

    All members, by name. Needs the right `ask_about_others`.
    """
    need_others(ctx)
    asking = Asking(ctx, at)
    asking.see((resource,))
    known = [asking.named(uid) for uid in asking.at.who(action, resource) if asking.sees(uid)]
    of = f"who {action} {resource} {at}"
    behind = paged.start(of, str, str)
    left = known if behind is None else [member for member in known if _key(member) > behind]
    return paged.page(of, left[: paged.limit + 1], _key, lambda member: member)


def _key(member: Named) -> tuple[str, str]:
    return fold_name(member.name), member.id
