"""Undoes acts of curation.

A later act in force **rests on** an act if it speaks of the same thing, so that it has the last word there: of the same
pair of records, of the verification of a record, of the same attribute of an entity; or if it verifies two records that
the act has linked. Undoing only the earlier one would change nothing, or not what its reader expects. So it is refused
with the later acts named, unless these are undone with it. An undo cannot be undone: the act is made again instead.
"""

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.workspaces.products.curation import act_log, suggestions
from lakehold.workspaces.products.curation.acts import ActContent, ActKind, CurationAct, RecordPair, pair_statements
from lakehold.workspaces.products.curation.curated_product import CuratedProduct

_VERIFICATIONS = (ActKind.VERIFY, ActKind.UNVERIFY)
_OVERRIDES = (ActKind.OVERRIDE, ActKind.CLEAR_OVERRIDE)
_MAX_NAMED = 10


def undo(product: CuratedProduct, number: int, *, with_later: bool = False) -> CurationAct:
    """Undo an act, and if asked the later acts that rest on it. Return the undo, which is an act itself."""
    product.ctx.need_writable()
    product.need("view_records")
    act = act_log.need_act(product.ctx, product.uid, number)
    product.need(act.kind.action)
    if act.kind is ActKind.UNDO:
        raise InvalidInputError("An undo cannot be undone.", "Make the act again.", field="number")
    if not act.in_force:
        raise ConflictError(f"Act {number} is undone already, by act {act.undone_by}.", "Nothing is to be done.")
    later = find_later(product, act)
    if later and not with_later:
        raise _later_acts_error(act, later)
    for each in later:
        product.need(each.kind.action)
    return _save(product, [act, *later])


def find_later(product: CuratedProduct, act: CurationAct) -> list[CurationAct]:
    """Return the later acts in force that rest on an act, or on one of these, oldest first."""
    found: dict[int, CurationAct] = {}
    pending = [act]
    while pending:
        ground = pending.pop()
        for each in act_log.load_about(product.ctx, product.uid, ground.content.subjects):
            if each.in_force and each.number not in found and rests_on(each, ground):
                found[each.number] = each
                pending.append(each)
    return [found[number] for number in sorted(found)]


def rests_on(later: CurationAct, act: CurationAct) -> bool:
    """Return whether a later act speaks of the same thing as an earlier one."""
    if later.number <= act.number or ActKind.UNDO in {later.kind, act.kind}:
        return False
    one, other = act.content, later.content
    if act.kind in _OVERRIDES and later.kind in _OVERRIDES:
        return (one.entities, one.attribute) == (other.entities, other.attribute)
    pairs, later_pairs = pair_statements(one).pairs, pair_statements(other).pairs
    verified, later_verified = _verified(one), _verified(other)
    return bool(
        pairs & later_pairs
        or verified & later_verified
        or _any_inside(pairs, later_verified)
        or _any_inside(later_pairs, verified)
    )


def _verified(content: ActContent) -> frozenset[str]:
    return frozenset(content.records) if content.kind in _VERIFICATIONS else frozenset()


def _any_inside(pairs: frozenset[RecordPair], records: frozenset[str]) -> bool:
    return bool(records) and any(one in records and other in records for one, other in pairs)


def _save(product: CuratedProduct, acts: list[CurationAct]) -> CurationAct:
    numbers = tuple(each.number for each in acts)
    entities = dict.fromkeys(entity for each in acts for entity in each.content.entities)
    records = dict.fromkeys(record for each in acts for record in each.content.records)
    undoing = act_log.append(product.ctx, product.uid, ActContent(ActKind.UNDO, tuple(entities), undone=numbers))
    act_log.mark_undone(product.ctx, product.uid, numbers, undoing.number)
    suggestions.reopen(product.ctx, product.uid, numbers)
    product.note(undoing, undone=list(numbers))
    product.refresh_queue(records)
    return undoing


def _later_acts_error(act: CurationAct, later: list[CurationAct]) -> ConflictError:
    named = ", ".join(f"{each.number} ({each.kind.value.replace('_', ' ')})" for each in later[:_MAX_NAMED])
    more = f" and {len(later) - _MAX_NAMED} more" if len(later) > _MAX_NAMED else ""
    message = f"Later acts rest on act {act.number}: {named}{more}."
    return ConflictError(message, "Undo these first, or all of them with `with_later`.", code="later_acts")
