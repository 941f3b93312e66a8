"""The unique names of a dry run: a step that takes a name has to come after the one that frees it."""

from collections.abc import Mapping

from lakehold.access.facts.names import DELETED, NameTakenError, UniqueNames
from lakehold.access.facts.records import Add, Attribute, Edge, Remove
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import TENANT
from lakehold.access_as_code.steps import Bundle, Create, Delete, MakeChange, Rename
from lakehold.kit.ids import fold_name, quote

Claim = tuple[str, str]
"""A scope, and a folded name in it."""


class DryRunNames:
    """The names that are claimed after the steps that were taken."""

    def __init__(self, names: UniqueNames, view: FactView) -> None:
        self._names = names
        self._claims: dict[str, Claim] = {}
        self._new_names: dict[str, str] = {}
        self._tenant = next(iter(view.by_kind.get(TENANT) or ()), 0)
        for kind in view.policy.kinds:
            for number in view.by_kind.get(kind) or ():
                if (claim := self._claim(view, view.uid(number))) is not None:
                    self._claims[view.uid(number)] = claim
        self._holders = {claim: uid for uid, claim in self._claims.items()}

    def take(self, view: FactView, bundle: Bundle) -> None:
        """Let the resources of a bundle claim their names in the view after it, or refuse if one is taken."""
        renamed = {step.uid: step.name for step in bundle if isinstance(step, Rename)}
        before, self._new_names = self._new_names, {**self._new_names, **renamed}
        touched = {uid for step in bundle if (uid := _touched(step))}
        claims = {uid: self._claim(view, uid) for uid in touched if view.ids.get(uid) is not None}
        for uid, claim in claims.items():
            holder = self._holders.get(claim, uid) if claim is not None else uid
            if holder not in {uid, *touched}:
                self._new_names = before
                error = NameTakenError(self._name(view, uid), holder)
                error.message = f"{quote(uid)} cannot be called {quote(error.name)}: that name is taken."
                error.hint = "Choose another name. If two swap their names, rename one of them first."
                raise error
        for uid in touched:
            self._holders.pop(self._claims.pop(uid, ("", "")), None)
        self._put({uid: claim for uid, claim in claims.items() if claim is not None})

    def _put(self, claims: Mapping[str, Claim]) -> None:
        self._claims |= claims
        self._holders |= {claim: uid for uid, claim in claims.items()}

    def _name(self, view: FactView, uid: str) -> str:
        return self._new_names.get(uid) or view.names.get(view.resource(uid)) or ""

    def _claim(self, view: FactView, uid: str) -> Claim | None:
        number = view.resource(uid)
        above = _parent(view, number)
        scope = self._names.scope(view.policy, view.kind(number), above or self._tenant, lambda: _root(view, number))
        waiting = above is None and view.policy.kinds[view.kind(number)].parent is not None
        if scope is None or waiting or view.attributes[DELETED].get(number) == "true":
            return None
        return scope, fold_name(self._name(view, uid))


def _touched(step: Create | Rename | Delete | MakeChange) -> str:
    """Return the resource whose claim the step may change."""
    match step:
        case Create(_, uid) | Rename(uid) | Delete(_, uid):
            return uid
        case MakeChange(Add(Edge(_, uid)) | Remove(Edge(_, uid)), None):
            return uid
        case MakeChange(Add(Attribute(uid, name)) | Remove(Attribute(uid, name)), None) if name == DELETED:
            return uid
        case _:
            return ""


def _parent(view: FactView, number: int) -> int | None:
    edge = view.policy.kinds[view.kind(number)].schema.parent
    ends = view.edges_out[edge].get(number) if edge else None
    return ends[0] if ends else None


def _root(view: FactView, number: int) -> int:
    """Return the workspace that a resource lies in."""
    schema = view.policy.kinds[view.kind(number)].schema
    above = _parent(view, number)
    return number if above is None or schema.name == view.policy.models[schema.model].root else _root(view, above)
