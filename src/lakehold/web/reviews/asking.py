"""Which rows of a campaign are wanted, as the address says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import Request

from lakehold.access.model.policy import Policy
from lakehold.catalog.campaign_visibility import ENDED, KEPT, REMOVED, UNDECIDED, CampaignRow
from lakehold.catalog.resource_view import ResourceRef
from lakehold.kit.clock import Moment
from lakehold.kit.ids import fold_name
from lakehold.web.list_view import ListFilter, ListState

STATES = {
    UNDECIDED: ("Undecided", "neutral"),
    KEPT: ("Kept", "good"),
    REMOVED: ("Removed", "bad"),
    ENDED: ("No longer held", "outline"),
}
"""Words and tones of what was decided."""
_MOST_HOLDERS = 200

_ORDER: dict[str, Callable[[CampaignRow], tuple[str | Moment, ...]]] = {
    "resource": lambda row: (fold_name(row.resource.name), row.resource.uid, fold_name(row.subject.name)),
    "holder": lambda row: (fold_name(row.subject.name), row.subject.uid, fold_name(row.resource.name)),
    "role": lambda row: (fold_name(row.title), fold_name(row.resource.name), fold_name(row.subject.name)),
    "since": lambda row: (row.since, row.n),
}


def listed(request: Request, rows: Sequence[CampaignRow], policy: Policy) -> ListState:
    """The list as its address asks for it. What can be chosen is what the rows have, and nothing else."""
    holders = {row.subject.uid: row.subject.name for row in rows}
    kinds = {row.resource.kind: policy.kind(row.resource.kind).schema.title for row in rows}
    filters = [
        ListFilter("state", "Decision", tuple((state, words) for state, (words, _) in STATES.items())),
        ListFilter("member", "Holder", _options(holders)[:_MOST_HOLDERS]),
        ListFilter("kind", "Kind", _options(kinds)),
    ]
    return ListState.from_request(request, sorts=tuple(_ORDER), filters=filters)


def fitting(listing: ListState, rows: Sequence[CampaignRow]) -> list[CampaignRow]:
    """The rows that fit, in order."""
    words = fold_name(listing.search).split()
    wanted = listing.chosen
    found = [
        row
        for row in rows
        if wanted["state"] in {"", row.state}
        and wanted["member"] in {"", row.subject.uid}
        and wanted["kind"] in {"", row.resource.kind}
        and all(word in _said(row.subject, row.resource, row.title) for word in words)
    ]
    return sorted(found, key=_ORDER[listing.sort], reverse=listing.descending)


def _said(who: ResourceRef, what: ResourceRef, title: str) -> str:
    return fold_name(f"{who.name} {what.name} {title}")


def _options(named: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(named.items(), key=lambda option: (fold_name(option[1]), option[0])))
