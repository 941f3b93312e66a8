"""Every decision over one view: check, actions, and what a change would need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lakehold.access.decide.check import Checks
from lakehold.access.decide.effects import Effects, sets_of, what_if
from lakehold.access.decide.explain import Explainer, Path
from lakehold.access.decide.subjects import Asker, Token, within
from lakehold.access.decide.ways import MOST_WAYS, Way, Ways
from lakehold.access.facts.changes import ends_of, with_changes, with_draft
from lakehold.access.facts.inputs import mapping, text
from lakehold.access.facts.records import Add, Attribute, Change, Draft, Edge, Fact, Grant, Remove, mentioned
from lakehold.access.facts.view import Subject, View
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.expressions import Expression
from lakehold.access.model.names import CREATE, give, invite, link, put
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote

Edges = Mapping[str, str | Sequence[str]]

_CARRYING = {"give": give, "invite": invite}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why somebody may or may not do something."""

    allowed: bool
    member: str
    action: str
    resource: str
    paths: tuple[Path, ...]
    """For an allow every line of the model that held; for a denial all that speak of the action."""
    gates: tuple[Path, ...]
    ways: tuple[Way, ...]
    """For a denial what would have to be added, fewest facts first."""
    hidden_ways: bool
    """Whether there are ways that would name what the viewer may not see."""


class Decisions:
    """What a policy says of the facts of one view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.policy = view.policy
        self.checks = checks_of(view.policy)
        self._tests = self.checks.asked

    def check(
        self, asker: Asker, action: str, resource: str | Draft, *, role: str | None = None, edges: Edges | None = None
    ) -> bool:
        """Whether the asker may do this.

        With a `Draft` and the action `create`: may they make it? With a `role` and `give` or `invite`: may they give
        it? With `edges`: may they do it so that these edges point there afterwards?
        """
        view = self.view
        if role is None and edges is None and type(asker) is str and type(resource) is str and type(action) is str:
            there = view.ids.get(resource)
            test = self._tests.get((view.kinds.get(there), action)) if there is not None else None
            if there is not None and test is not None:
                return test(view, view.askers.get(asker) or view.asker(asker), there)
        return self._check(asker, action, resource, role, edges)

    def check_many(self, questions: Iterable[tuple[Asker, str, str]]) -> list[bool]:
        """The same for many, in their order."""
        return [self.check(asker, action, resource) for asker, action, resource in questions]

    def actions(self, asker: Asker, resource: str) -> list[str]:
        """All that the asker may do with the resource, in the model's order."""
        kind = self.view.policy.kind(self.view.kind(self.view.resource(resource)))
        self._subject(asker)
        return [action for action in kind.schema.actions if self.check(asker, action, resource)]

    def check_change(self, asker: Asker, change: Add | Remove) -> bool:
        """Whether the asker may make this change: what the model declares for the role, attribute or edge."""
        view = self.view
        with_changes(view, [change])  # what cannot be at all is refused by name, not by a no
        self._subject(asker)
        fact = change.fact
        if isinstance(asker, Token) and asker.is_narrowed and _hands_out(fact):
            return False
        here = view.resource(fact.source if isinstance(fact, Edge) else fact.resource)
        name = self._setting(fact, here, isinstance(change, Remove))
        if (view.kind(here), name) not in view.policy.relations:
            return False
        if not self._narrowed(asker, name, here) or not self._holds(asker, name, here):
            return False
        if not isinstance(fact, Edge):
            return True
        return self._ends_allow(asker, name, here, [change])

    def explain(self, asker: Asker, action: str, resource: str, *, viewer: Asker | None = None) -> Explanation:
        """Why the asker may or may not do this.

        What the viewer may not see is not named; the viewer is the asker unless another one is given. A resource that
        the viewer may not see answers like one that does not exist.
        """
        view, subject = self.view, self._subject(asker)
        here = view.resource(resource)
        sees = self._sight(asker if viewer is None else viewer)
        if not sees(here):
            raise NotFoundError(f"There is no resource {quote(resource)}.", "Look the id up in a list.")
        expression = view.policy.action(view.kind(here), text(action, "action"))
        allowed = self.check(asker, action, resource)
        explainer = Explainer(view, self.checks, sees)
        paths = explainer.paths(subject, action, here, held_only=allowed)
        gates = explainer.gates(subject, action, here)
        if allowed or self._holds(asker, action, here):
            return Explanation(allowed, _member(asker), action, resource, paths, gates, (), hidden_ways=False)
        ways, hidden = self._ways(expression, subject, here, sees)
        return Explanation(allowed, _member(asker), action, resource, paths, gates, ways, hidden)

    def sees(self, asker: Asker, resource: str) -> bool:
        """Whether the asker may know of the resource. To others it answers like one that does not exist."""
        return self._sight(asker)(self.view.resource(resource))

    def ways(self, asker: Asker, action: str, resource: str, *, role: str | None = None) -> tuple[Way, ...]:
        """What would let the asker do this: the ways of `explain` alone, also for actions that carry a role."""
        here = self.view.resource(resource)
        return self._ways_to(asker, self._relation(self.view.kind(here), action, role), here)

    def ways_to_change(self, asker: Asker, change: Add | Remove) -> tuple[Way, ...]:
        """What would let the asker make this change."""
        fact = change.fact
        here = self.view.resource(fact.source if isinstance(fact, Edge) else fact.resource)
        return self._ways_to(asker, self._setting(fact, here, isinstance(change, Remove)), here)

    def _ways_to(self, asker: Asker, name: str, here: int) -> tuple[Way, ...]:
        expression = self.view.policy.relations.get((self.view.kind(here), name))
        subject = self._subject(asker)
        return self._ways(expression, subject, here, self._sight(asker))[0] if expression is not None else ()

    def _ways(
        self, expression: Expression, subject: Subject, here: int, sees: Callable[[int], bool]
    ) -> tuple[tuple[Way, ...], bool]:
        finder = Ways(self.view, self.checks, sets_of(self.view.policy))
        kept: list[Way] = []
        hidden = False
        for facts in finder.find(expression, self.view.kind(here), subject, here):
            if not all(sees(number) for fact in facts for number in map(self.view.resource, mentioned(fact))):
                hidden = True
                continue
            kept.append(Way(finder.needed(facts)))
            if len(kept) == MOST_WAYS:
                break
        return tuple(kept), hidden

    def _sight(self, asker: Asker) -> Callable[[int], bool]:
        """What the asker may know of: a token narrowed to resources, of these alone, and of whom it acts for."""
        looking = self._subject(asker)
        places = asker.resources if isinstance(asker, Token) else None
        if places is None:
            return lambda number: self._visible(looking, number)
        return lambda number: (
            number == looking.id or (within(self.view, number, places) and self._visible(looking, number))
        )

    def _visible(self, looking: Subject, number: int) -> bool:
        kind = self.view.policy.kinds[self.view.kind(number)]
        if not kind.schema.actions:
            return True
        return self.checks.test(kind.id, kind.schema.visible)(self.view, looking, number)

    def what_if(self, changes: Sequence[Change]) -> Effects:
        """Who would win and lose what by these changes."""
        return what_if(self.view, changes)

    def _setting(self, fact: Fact, here: int, removed: bool) -> str:  # noqa: FBT001 - one of two ways to ask
        match fact:
            case Grant(_, role, _):
                return give(role)
            case Edge(edge, _, _):
                return link(edge)
            case Attribute(_, name, value, member):
                schema = self.view.policy.kind(self.view.kind(here)).schema
                known = schema.attributes if member is None else schema.membership
                return put(name, known[name].default if removed else str(value))

    def _check(self, asker: Asker, action: str, resource: str | Draft, role: str | None, edges: Edges | None) -> bool:
        if isinstance(resource, Draft):
            return self._check_draft(asker, action, resource)
        here = self.view.resource(resource)
        name = self._relation(self.view.kind(here), action, role)
        if (self.view.kind(here), name) not in self.view.policy.relations:
            self.view.member(_member(asker))
            return False
        changes = [] if edges is None else list(self._repointing(here, edges))
        with_changes(self.view, changes)  # as above
        if not self._narrowed(asker, action, here) or not self._holds(asker, name, here):
            return False
        return edges is None or self._ends_allow(asker, name, here, changes)

    def _relation(self, kind: str, action: str, role: str | None) -> str:
        if role is not None:
            if text(action, "action") not in _CARRYING:
                raise InvalidInputError(f"{quote(action)} carries no role.", "Use give or invite.")
            self.view.policy.role(kind, text(role, "role"))
            return _CARRYING[action](role)
        self.view.policy.action(kind, text(action, "action"))
        self._tests[kind, action] = self.checks.test(kind, action)
        return action

    def _check_draft(self, asker: Asker, action: str, draft: Draft) -> bool:
        if text(action, "action") != "create":
            raise InvalidInputError(
                f"A draft can only be created, not {quote(action)}.", did_you_mean(action, ["create"])
            )
        view, number = with_draft(self.view, draft)
        subject = view.subject(view.member(_member(asker)))
        if isinstance(asker, Token) and asker.is_narrowed and not _may_create(view, asker, number):
            return False
        if (draft.kind, CREATE) not in view.policy.relations:
            return False
        return self.checks.test(draft.kind, CREATE)(view, subject, number)

    def _subject(self, asker: Asker) -> Subject:
        return self.view.subject(self.view.member(_member(asker)))

    def _holds(self, asker: Asker, name: str, here: int) -> bool:
        return self.checks.test(self.view.kind(here), name)(self.view, self._subject(asker), here)

    def _narrowed(self, asker: Asker, action: str, here: int) -> bool:
        """Whether a token's narrowing leaves this to it."""
        if not isinstance(asker, Token) or not asker.is_narrowed:
            return True
        if action in _CARRYING or (self.view.kind(here), action) in self.view.policy.handing_out:
            return False
        if asker.actions is not None and action not in asker.actions:
            return False
        return asker.resources is None or within(self.view, here, asker.resources)

    def _repointing(self, here: int, edges: Edges) -> Iterable[Add | Remove]:
        uid = self.view.uid(here)
        mapping(edges, "edges")
        for edge, targets in edges.items():
            wanted = set(ends_of(self.view, self.view.kind(here), edge, targets))
            there = set(self.view.out[edge].get(here) or ())
            yield from (Remove(Edge(edge, uid, self.view.uid(end))) for end in there - wanted)
            yield from (Add(Edge(edge, uid, self.view.uid(end))) for end in wanted - there)

    def _ends_allow(self, asker: Asker, name: str, here: int, changes: Sequence[Add | Remove]) -> bool:
        """Whether the edges may be set: here before, at their new ends, and where the model says so here after."""
        view, subject = self.view, self._subject(asker)
        kind = view.kind(here)
        also_after = False
        for change in changes:
            edge = change.fact
            assert isinstance(edge, Edge)  # noqa: S101 - only edges are re-pointed
            declared = view.policy.edge(kind, edge.name)
            setting = link(edge.name)
            if (kind, setting) not in view.policy.relations or not self._holds(asker, setting, here):
                return False
            also_after |= declared.also_after
            if declared.needs and isinstance(change, Add):
                end = view.resource(edge.target)
                if not self.checks.test(view.kind(end), declared.needs)(view, subject, end):
                    return False
        if not also_after:
            return True
        after = with_changes(view, changes)
        return self.checks.test(kind, name)(after, after.subject(subject.id), here)


def _member(asker: Asker) -> str:
    return asker.member if isinstance(asker, Token) else asker


def _hands_out(fact: Fact) -> bool:
    """Whether the fact gives somebody access: a grant, or a place in a group that has some."""
    return isinstance(fact, Grant) or (isinstance(fact, Edge) and fact.name == MEMBER_OF)


def _may_create(view: View, token: Token, number: int) -> bool:
    if view.kind(number) == MEMBER:
        return False
    if token.actions is not None and "create" not in token.actions:
        return False
    return token.resources is None or within(view, number, token.resources)


@lru_cache(maxsize=32)
def checks_of(policy: Policy) -> Checks:
    """The compiled checks of a policy, made once."""
    return Checks(policy)
