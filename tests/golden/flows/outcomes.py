"""Outcomes of an action: done, refused (the resource is visible) or hidden."""

from __future__ import annotations

from collections.abc import Iterable

import httpx

DONE, REFUSED, HIDDEN = "done", "refused", "hidden"
_WORDS = {200: DONE, 201: DONE, 202: DONE, 204: DONE, 303: DONE, 403: REFUSED, 404: HIDDEN}


def outcome(answer: httpx.Response) -> str:
    """Return the outcome of an answer. An unexpected answer is returned as text, which equals no outcome."""
    return _WORDS.get(answer.status_code) or f"{answer.status_code}: {answer.text}"


def confirmed_outcome(said: str, *, happened: bool) -> str:
    """Return the outcome, if it agrees with what happened."""
    return said if happened == (said == DONE) else f"{said}, but it {'happened' if happened else 'did not happen'}"


def combined_outcome(*said: str) -> str:
    """Return the common outcome of several actions."""
    return said[0] if len(set(said)) == 1 else ", then ".join(said)


def expected_outcomes(actions: Iterable[str], may: Iterable[str]) -> dict[str, str]:
    """Return the expected outcome of each action. Refused actions are hidden if the resource may not be seen."""
    allowed = set(may)
    no = REFUSED if "see" in allowed else HIDDEN
    return {action: DONE if action in allowed else no for action in actions}
