"""How something came out: done, refused to who may see the thing, or hidden from who may not."""

from __future__ import annotations

from collections.abc import Iterable

import httpx

DONE, REFUSED, HIDDEN = "done", "refused", "hidden"
_WORDS = {200: DONE, 201: DONE, 202: DONE, 204: DONE, 303: DONE, 403: REFUSED, 404: HIDDEN}


def outcome(answer: httpx.Response) -> str:
    """What an answer says; what is none of the three is told as it is, and equals nothing that is expected."""
    return _WORDS.get(answer.status_code) or f"{answer.status_code}: {answer.text}"


def came_out(said: str, *, happened: bool) -> str:
    """What was said, if that is also what became of it."""
    return said if happened == (said == DONE) else f"{said}, but it {'happened' if happened else 'did not happen'}"


def both(*said: str) -> str:
    """The outcome of things that go together."""
    return said[0] if len(set(said)) == 1 else ", then ".join(said)


def expected(actions: Iterable[str], may: Iterable[str]) -> dict[str, str]:
    """Done for each action that one may take; for the others it depends on whether one may see the thing."""
    allowed = set(may)
    no = REFUSED if "see" in allowed else HIDDEN
    return {action: DONE if action in allowed else no for action in actions}
