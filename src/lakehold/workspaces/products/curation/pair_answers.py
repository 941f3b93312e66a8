"""Answers whether two records are the same, and who is to give them."""

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.products.curation import act_log, pair_queue
from lakehold.workspaces.products.curation.acts import ANSWERS, ActContent, ActKind, CurationAct, ordered_pair
from lakehold.workspaces.products.curation.constraints import build_constraints
from lakehold.workspaces.products.curation.curated_product import CuratedProduct, need_entities
from lakehold.workspaces.products.curation.pair_queue import QueuedPair

MAX_ASSIGNED = 1_000


def answer(product: CuratedProduct, record_a: str, record_b: str, kind: ActKind) -> CurationAct:
    """Answer whether two records are the same, in the queue or not. Skipping leaves the pair undecided."""
    lookup = product.need_act(kind)
    if kind not in ANSWERS:
        raise InvalidInputError(f"{quote(kind)} is no answer.", f"Use {', '.join(ANSWERS)}.", field="answer")
    pair = ordered_pair(record_a, record_b)
    holders = need_entities(lookup, pair, "record_a")
    if kind is ActKind.DIFFERENT:
        _refuse_verified(product, *pair)
    entities = tuple(dict.fromkeys(holders[each] for each in pair))
    return product.save(ActContent(kind, entities, tuple((each,) for each in pair)))


def _refuse_verified(product: CuratedProduct, one: str, other: str) -> None:
    """Refuse to call records different that are verified as one entity: one of the two is a mistake."""
    about = act_log.load_about(product.ctx, product.uid, [one, other])
    group = next((each for each in build_constraints(about).verified if {one, other} <= {*each.records}), None)
    if group is not None:
        message = f"Both records are verified as {group.entity}."
        raise ConflictError(message, "Take the verification of one of them back first.", field="answer")


def assign(product: CuratedProduct, member: str, count: int) -> list[QueuedPair]:
    """Assign the next open pairs that are nobody's to a member who may answer them."""
    ctx = product.ctx
    ctx.need_writable()
    product.need("curate")
    if not 1 <= count <= MAX_ASSIGNED:
        raise InvalidInputError(f"{count:,} pairs cannot be assigned.", f"Use 1 to {MAX_ASSIGNED:,}.", field="count")
    _need_curator(ctx, product.uid, member)
    found = pair_queue.assign_next(ctx, product.uid, member, count)
    ctx.note("curate: assign pairs", product.uid, after={"member": member, "pairs": len(found)})
    return found


def release(product: CuratedProduct, member: str) -> int:
    """Take the open pairs of a member back, so that they are nobody's."""
    product.ctx.need_writable()
    product.need("curate")
    count = pair_queue.release(product.ctx, product.uid, member)
    if count:
        product.ctx.note("curate: release pairs", product.uid, after={"member": member, "pairs": count})
    return count


def _need_curator(ctx: RequestContext, product: str, member: str) -> None:
    ctx.need_visible(member)
    if not ctx.session.check(member, "curate", product):
        message = f"{quote(member)} may not curate the data product."
        raise InvalidInputError(message, "Give them the role Curator first, or choose another member.", field="member")
