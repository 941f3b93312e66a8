"""The steps in which a source is set up, and where each of them is."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.web import urls

CONNECT, STREAMS, PREVIEW, SCHEDULE = "connection", "streams", "preview", "schedule"
_LABELS = {CONNECT: "Connect", STREAMS: "Choose streams", PREVIEW: "Preview", SCHEDULE: "Schedule"}
_ASKED = "?setup=1"


@dataclass(frozen=True, slots=True)
class Step:
    """One of them: before, at or behind where one is."""

    label: str
    href: str
    state: str


def steps(now: str, uid: str = "") -> list[Step]:
    """All of them. Before there is a source, one is at the first."""
    order = list(_LABELS)
    here = order.index(now)
    return [
        Step(
            _LABELS[part],
            at(uid, part) if uid and n != here else "",
            "done" if n < here else "now" if n == here else "next",
        )
        for n, part in enumerate(order)
    ]


def at(uid: str, part: str) -> str:
    """The page of a step, while the source is set up."""
    return urls.resource(uid, part) + _ASKED


def page(uid: str, part: str, *, setup: bool) -> str:
    """The same page, in the set-up or apart from it."""
    return at(uid, part) if setup else urls.resource(uid, part)
