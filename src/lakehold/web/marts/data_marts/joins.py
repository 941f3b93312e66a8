"""The part of a data mart's form that is about other marts: which are joined to it, as what, and by which columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.web.lakehouse.forms import parts

MOST = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Join:
    """A mart that is joined, as it is filled in."""

    mart: str = ""
    name: str = ""
    on: str = ""
    """`our column = their column`, with commas between them."""

    def told(self) -> dict[str, object]:
        """What is kept of it."""
        return {"mart": self.mart, "name": self.name, "on": pairs(self.on)}


def sent(form: FormData) -> list[Join]:
    """Those that came in, without what is empty."""
    marts, names, ons = (
        [str(each).strip() for each in form.getlist(f"join_{part}")] for part in ("mart", "name", "on")
    )
    some = [Join(*each) for each in zip(marts[:MOST], names, ons, strict=False)]
    return [join for join in some if join.mart or join.name or join.on]


def present(ctx: RequestContext, settings: Mapping[str, object]) -> tuple[list[Join], bool]:
    """Those of a mart that the caller sees, and whether there are more."""
    eyes, some = VisibleRefs(ctx), told(settings)
    seen = [
        Join(str(each.get("mart", "")), str(each.get("name", "")), _said(each.get("on")))
        for each in some
        if eyes.sees(str(each.get("mart", "")))
    ]
    return seen, len(seen) < len(some)


def unseen(ctx: RequestContext, settings: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Those that the caller does not see: they stay as they are."""
    eyes = VisibleRefs(ctx)
    return [each for each in told(settings) if not eyes.sees(str(each.get("mart", "")))]


def errors(joins: Sequence[Join], own: str = "") -> dict[str, str]:
    """What is wrong with them, by field."""
    found: dict[str, str] = {}
    known: set[str] = set()
    for n, join in enumerate(joins):
        if not join.mart:
            found[f"join_mart-{n}"] = "Choose the data mart that is joined."
        elif join.mart == own:
            found[f"join_mart-{n}"] = "A data mart is not joined to itself."
        if not _NAME.fullmatch(join.name):
            found[f"join_name-{n}"] = "Give it a short name of letters and digits: its columns have it before theirs."
        elif join.name in known:
            found[f"join_name-{n}"] = "Another one has this name."
        if not pairs(join.on) or not all(pairs(join.on).values()):
            found[f"join_on-{n}"] = "Say which columns are the same, such as customer = id."
        known.add(join.name)
    return found


def pairs(text: str) -> dict[str, str]:
    """Our column by theirs; one name alone is the same on both sides."""
    found = {}
    for part in parts(text):
        ours, equals, theirs = part.partition("=")
        found[ours.strip()] = theirs.strip() if equals else ours.strip()
    return found


def told(settings: Mapping[str, object]) -> list[Mapping[str, object]]:
    """As settings have them."""
    some = settings.get("joins")
    return [each for each in some if isinstance(each, Mapping)] if isinstance(some, list) else []


def _said(on: object) -> str:
    return ", ".join(f"{ours} = {theirs}" for ours, theirs in on.items()) if isinstance(on, Mapping) else ""
