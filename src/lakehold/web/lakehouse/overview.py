"""A lakehouse at a glance: its layers, what moves its rows, and how that went lately, as far as one sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.frame.works import Reading
from lakehold.catalog import kinds, resources
from lakehold.catalog.shapes import Summary
from lakehold.directory.work import Work
from lakehold.runs.run_table import FAILED
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.actions import Action
from lakehold.web.around import listed_kinds
from lakehold.web.lakehouse import runs, saying
from lakehold.web.lakehouse.browsing import LAYER, TABLE, VOLUME
from lakehold.web.lakehouse.doing import PIPELINES, RUNS
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.resources import spaces
from lakehold.web.routes import router
from lakehold.web.workspaces import tabs

routes = router("/workspaces")

_SAVED = "lakehouse.saved_query"
_LATEST, _SHOWN, _COUNTED, _MOST_LAYERS = 8, 6, 500, 12


@dataclass(frozen=True, slots=True)
class Count:
    """How many of something one sees, and where they are."""

    label: str
    told: str
    href: str


@routes.get("/{uid:path}/lakehouse")
def overview(request: Request, work: Reading, uid: str) -> Response:
    """What is there, how the last runs went, and what to do next."""
    need_lakehouse(work, uid)
    found = resources.get(work, uid)
    layers = resources.page(work, LAYER, within=uid, sort="created", limit=_MOST_LAYERS)
    values: dict[str, object] = {
        "crumbs": acting.crumbs(work, uid),
        "found": found,
        **tabs.shown(uid, found.kind),
        "makes": _makes(work, uid),
        "asks": work.session.check(work.asker, "execute_query", uid),
        "counts": _counts(work, uid),
        "layers": layers.items,
        "more_layers": layers.after is not None,
        "new_layer": spaces.new(work, kinds.kept_here(work.view.policy, LAYER), uid),
        "runs": runs.rows(work, RUNS.page(work, within=uid, limit=_LATEST)),
        "failed": runs.rows(work, RUNS.page(work, within=uid, state=FAILED, limit=_SHOWN)),
        "pipelines": _pipelines(work, uid),
        "saved": resources.page(work, _SAVED, within=uid, limit=_SHOWN).items,
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.page(request, "lakehouse/overview.html", values)


def _makes(work: Work, uid: str) -> list[Action]:
    root = kinds.schema_of(work.view, uid)
    made = [spaces.new(work, kind, uid) for kind in listed_kinds(work, root) if kind.create is not None]
    return [each for each in made if not each.why_not]


def _pipelines(work: Work, uid: str) -> Sequence[Summary]:
    return resources.find(work, among=PIPELINES, within=uid, limit=_SHOWN).items


def _counts(work: Work, uid: str) -> list[Count]:
    parts = (
        ("Layers", (LAYER,), "data"),
        ("Tables", (TABLE,), "table"),
        ("Volumes", (VOLUME,), "volume"),
        ("Pipelines", PIPELINES, "pipelines"),
    )
    return [Count(label, _counted(work, uid, among), addresses.workspace(uid, part)) for label, among, part in parts]


def _counted(work: Work, uid: str, among: Sequence[str]) -> str:
    number, more = 0, False
    for kind in among:
        sight = work.view.policy.kind(kind).schema.visible
        found = work.session.list(work.asker, sight, kind, within=uid, limit=_COUNTED)
        number, more = number + len(found.items), more or found.after is not None
    return f"{number:,}{'+' if more else ''}"
