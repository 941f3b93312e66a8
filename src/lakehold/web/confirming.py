"""Are you sure? Asked in a dialog where there are scripts, and on a page of its own where there are none.

The question is the endpoint's, so that it is asked whatever the browser can do::

    if question := unsure(request, sent, "Remove Erik from Engineers?", "He loses Editor on 12 tables.", do="Remove"):
        return question
"""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.web import csrf, pages

CONFIRMED = "confirmed"


def unsure(
    request: Request, sent: FormData, question: str, text: str = "", *, do: str = "Continue", back: str = "/"
) -> Response | None:
    """The page that asks, unless the answer is already there."""
    if sent.get(CONFIRMED):
        return None
    fields = [(name, value) for name, value in sent.multi_items() if isinstance(value, str) and name != csrf.FIELD]
    values: dict[str, object] = {"question": question, "text": text, "do": do, "back": back, "fields": fields}
    return pages.page(request, "confirm.html", values)
