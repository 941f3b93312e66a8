"""The kinds of pipelines, and the graph of pipelines and tables: its links, and the boxes of its nodes."""

from collections.abc import Iterable

from lakehold.catalog import kinds, resources
from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.web import lineage_page
from lakehold.web.access import resource_header
from lakehold.web.lineage_page import GraphBox, Link
from lakehold.workspaces.graph import edge_sources, edge_targets
from lakehold.workspaces.lakehouse.pipelines.base import LAYER_KIND, TABLE_KIND
from lakehold.workspaces.lakehouse.volumes import VOLUME_KIND
from lakehold.workspaces.registry import kind_descriptors

_OVERVIEW, _EDIT_FORM = "pipeline", "pipeline/edit"
_KINDS = {kind: found for kind, found in kind_descriptors().items() if kind.startswith("lakehouse.")}
PIPELINE_KINDS = tuple(kind for kind, found in _KINDS.items() if found.overview == _OVERVIEW)
"""The kinds that move data."""
FORM_KINDS = frozenset(kind for kind, found in _KINDS.items() if found.edit_form == _EDIT_FORM)
"""The kinds that have the form of a pipeline."""
BACKFILL_KINDS = frozenset({"lakehouse.source", "lakehouse.query"})
"""What a part of can be run anew."""


def need_pipeline(ctx: RequestContext, uid: str) -> ResourceView:
    """Return the pipeline; raise InvalidInputError if the resource is not one."""
    found = resources.get(ctx, uid)
    if found.kind not in PIPELINE_KINDS:
        title = kinds.catalog_kind(ctx.view.policy, found.kind).title
        raise InvalidInputError(f"A {title.lower()} is not a pipeline.", "Open the list of pipelines.")
    return found


PLANNED_TABLE = "\0"
"""Between a pipeline and the layer in which its table will be made: no id has it in it."""


def pipeline_links(ctx: RequestContext, eyes: VisibleRefs, pipelines: Iterable[str]) -> list[Link]:
    """Return each link between a pipeline and a table once, in the direction of the data."""
    found: dict[Link, None] = {}
    for uid in pipelines:
        for end in eyes.refs(edge_targets(ctx, uid, "reads")):
            found[end.uid, uid] = None
        for end in eyes.refs(written_ids(ctx, eyes, uid)):
            found[uid, f"{uid}{PLANNED_TABLE}{end.uid}" if end.kind == LAYER_KIND else end.uid] = None
    return list(found)


def written_ids(ctx: RequestContext, eyes: VisibleRefs, uid: str) -> list[str]:
    """Return the ids that a pipeline writes, visible or not: its own, those of visible streams, or the target layer."""
    seen = [each for each in stream_ids(ctx, uid) if eyes.sees(each)]
    own = [end for each in (uid, *seen) for end in edge_targets(ctx, each, "writes")]
    return list(dict.fromkeys(own or edge_targets(ctx, uid, "into")))


def stream_ids(ctx: RequestContext, uid: str) -> list[str]:
    """Return the ids of the streams of a source, visible or not."""
    return sorted(edge_sources(ctx, uid, "source"))


def node_box(ctx: RequestContext, eyes: VisibleRefs, uid: str) -> GraphBox:
    """Return the box of a node. A table names its layer."""
    pipeline, _, layer = uid.partition(PLANNED_TABLE)
    found = eyes.ref(layer or pipeline)
    assert found is not None  # noqa: S101 - only what is seen was followed
    if layer:
        return GraphBox(
            f"Table in {found.name}", "Not created yet", "circle-dashed", resource_header.overview_url(ctx, layer), uid
        )
    title = ctx.view.policy.kind(found.kind).schema.title
    above = eyes.parent(uid) if found.kind in {TABLE_KIND, VOLUME_KIND} else None
    return lineage_page.resource_box(
        f"{title} in {above.name}" if above else title, found, resource_header.overview_url(ctx, uid)
    )
