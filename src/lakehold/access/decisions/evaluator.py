"""The evaluator of decisions over one view: check, actions, explain, and what a change would need."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakehold.access.decisions.check import compiled_checks
from lakehold.access.decisions.explanation import Explainer, RulePath
from lakehold.access.decisions.principal import Principal, TokenPrincipal, lies_within
from lakehold.access.decisions.ways import MOST_WAYS, Way, WayFinder, change_relation
from lakehold.access.facts.changes import (
    refuse_missing_end,
    refuse_other_parent,
    resolve_targets,
    validate_value,
    with_changes,
    with_draft,
)
from lakehold.access.facts.records import (
    Add,
    Attribute,
    Draft,
    Edge,
    Fact,
    Grant,
    Remove,
    mentioned_ids,
    require_mapping,
    require_text,
)
from lakehold.access.facts.view import EdgeRow, FactView, MemberSubject
from lakehold.access.model import expressions as expr
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import MEMBER, MEMBER_OF
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote

EdgeEndIds = Mapping[str, str | Sequence[str]]

_ROLE_ACTIONS = {"give": expr.give_relation, "invite": expr.invite_relation}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why somebody may or may not do something."""

    allowed: bool
    member: str
    action: str
    resource: str
    paths: tuple[RulePath, ...]
    """For an allow every line of the model that held; for a denial all that speak of the action."""
    gates: tuple[RulePath, ...]
    ways: tuple[Way, ...]
    """For a denial what would have to be added, fewest facts first."""
    hidden_ways: bool
    """Whether there are ways that would name what the viewer may not see."""


class DecisionEvaluator:
    """Evaluates the decisions of a policy over the facts of one view."""

    def __init__(self, view: FactView) -> None:
        self.view = view
        self.policy = view.policy
        self.checks = compiled_checks(view.policy)
        self._tests = self.checks.action_tests

    def check(
        self,
        principal: Principal,
        action: str,
        resource: str | Draft,
        *,
        role: str | None = None,
        edges: EdgeEndIds | None = None,
    ) -> bool:
        """Return whether the principal may do this; see `AccessQueries.check`."""
        view = self.view
        if role is None and edges is None and type(principal) is str and type(resource) is str and type(action) is str:
            there = view.ids.get(resource)
            test = self._tests.get((view.kinds.get(there), action)) if there is not None else None
            if there is not None and test is not None:
                return test(view, view.subjects_by_uid.get(principal) or view.subject_by_uid(principal), there)
        return self._check(principal, action, resource, role, edges)

    def check_many(self, questions: Iterable[tuple[Principal, str, str]]) -> list[bool]:
        """Check many triples of principal, action and resource, in their order."""
        if not isinstance(questions, Iterable):
            raise InvalidInputError(
                f"A list of questions is expected, not {type(questions).__name__}.", "Put them into a list."
            )
        return [self.check(*_require_triple(question)) for question in questions]

    def actions(self, principal: Principal, resource: str) -> list[str]:
        """Return all actions that the principal may do on the resource, in the model's order."""
        kind = self.view.policy.kind(self.view.kind(self.view.resource(resource)))
        self._subject(principal)
        return [action for action in kind.schema.actions if self.check(principal, action, resource)]

    def holds(self, member: str, definition: str, resource: str) -> bool:
        """Return whether a definition of the model (`define`) holds for a member on a resource; see `AccessQueries`."""
        here = self.view.resource(resource)
        if (self.view.kind(here), definition) not in self.view.policy.relations:
            raise InvalidInputError(f"{self.view.kind(here)} defines no {quote(definition)}.", "Check the model.")
        return self._holds(member, definition, here)

    def check_change(self, principal: Principal, change: Add | Remove) -> bool:
        """Return whether the principal may make this change, as the model declares for its fact."""
        view = self.view
        with_changes(view, [change])  # what cannot be at all is refused by name, not by a no
        if isinstance(change, Remove) and isinstance(change.fact, Edge):
            refuse_missing_end(view, view.resource(change.fact.source), change.fact.name)
        self._subject(principal)
        fact = change.fact
        if isinstance(principal, TokenPrincipal) and principal.is_narrowed and _grants_access(fact):
            return False
        here = view.resource(mentioned_ids(fact)[0])
        name = self._change_relation(change, here)
        if (view.kind(here), name) not in view.policy.relations:
            return False
        if not self._token_allows_change(principal, name, here) or not self._holds(principal, name, here):
            return False
        return not isinstance(fact, Edge) or self._edges_allowed(principal, name, here, [change])

    def explain(
        self, principal: Principal, action: str, resource: str, *, viewer: Principal | None = None
    ) -> Explanation:
        """Explain why the principal may or may not do this; see `AccessQueries.explain`."""
        view, subject = self.view, self._subject(principal)
        here = view.resource(resource)
        sees = self._visibility(principal if viewer is None else viewer)
        if not sees(here):
            raise NotFoundError(f"There is no resource {quote(resource)}.", "Check the ID.")
        expression = view.policy.action(view.kind(here), require_text(action, "action"))
        allowed = self.check(principal, action, resource)
        explainer = Explainer(view, sees)
        paths = explainer.paths(subject, action, here, held_only=allowed)
        gates = explainer.gates(subject, action, here)
        may = allowed or self._holds(principal, action, here)
        ways, hidden = ((), False) if may else self._ways(expression, subject, here, sees)
        return Explanation(allowed, _member_id(principal), action, resource, paths, gates, ways, hidden)

    def can_see(self, principal: Principal, resource: str) -> bool:
        """Return whether the principal may know that the resource exists."""
        return self._visibility(principal)(self.view.resource(resource))

    def ways(self, principal: Principal, action: str, resource: str, *, role: str | None = None) -> tuple[Way, ...]:
        """Return the ways to allow the principal this action, as in `explain`; also for actions that carry a role."""
        here = self.view.resource(resource)
        return self._ways_to(principal, self._relation(self.view.kind(here), action, role), here)

    def ways_to_change(self, principal: Principal, change: Add | Remove) -> tuple[Way, ...]:
        """Return the ways to allow the principal this change."""
        here = self.view.resource(mentioned_ids(change.fact)[0])
        return self._ways_to(principal, self._change_relation(change, here), here)

    def ways_to_create(self, principal: Principal, draft: Draft) -> tuple[Way, ...]:
        """Return what would let the principal create such a resource, without facts about the resource itself."""
        view, number = with_draft(self.view, draft)
        ways = DecisionEvaluator(view)._ways_to(principal, expr.CREATE_RELATION, number)  # noqa: SLF001 - the same class
        return tuple(way for way in ways if all("" not in mentioned_ids(need.fact) for need in way.needed))

    def _ways_to(self, principal: Principal, name: str, here: int) -> tuple[Way, ...]:
        expression = self.view.policy.relations.get((self.view.kind(here), name))
        subject = self._subject(principal)
        return self._ways(expression, subject, here, self._visibility(principal))[0] if expression is not None else ()

    def _ways(
        self, expression: expr.Expression, subject: MemberSubject, here: int, sees: Callable[[int], bool]
    ) -> tuple[tuple[Way, ...], bool]:
        finder = WayFinder(self.view)
        visible_ways: list[Way] = []
        hidden = False
        for facts in finder.find(expression, self.view.kind(here), subject, here):
            if not all(sees(number) for fact in facts for number in map(self.view.resource, mentioned_ids(fact))):
                hidden = True
                continue
            visible_ways.append(Way(finder.missing_facts(facts)))
            if len(visible_ways) == MOST_WAYS:
                break
        return tuple(visible_ways), hidden

    def _visibility(self, principal: Principal) -> Callable[[int], bool]:
        """Return the test whether the principal may know of a resource; a narrowed token may know of its own."""
        viewing_subject = self._subject(principal)
        places = principal.resources if isinstance(principal, TokenPrincipal) else None
        if places is None:
            return lambda number: self._is_visible(viewing_subject, number)
        return lambda number: (
            number == viewing_subject.id
            or (lies_within(self.view, number, places) and self._is_visible(viewing_subject, number))
        )

    def _is_visible(self, viewing_subject: MemberSubject, number: int) -> bool:
        kind = self.view.policy.kinds[self.view.kind(number)]
        if not kind.schema.actions:
            return True
        return self.checks.relation_test(kind.id, kind.schema.visible)(self.view, viewing_subject, number)

    def _change_relation(self, change: Add | Remove, here: int) -> str:
        fact = change.fact
        if not isinstance(fact, Attribute):
            return change_relation(fact)
        schema = self.view.policy.kind(self.view.kind(here)).schema
        known = (schema.attributes if fact.member is None else schema.membership)[fact.name]
        value = known.default if isinstance(change, Remove) else validate_value(known, fact.value)
        return expr.set_relation(fact.name, value)

    def _check(
        self, principal: Principal, action: str, resource: str | Draft, role: str | None, edges: EdgeEndIds | None
    ) -> bool:
        if isinstance(resource, Draft):
            return self._check_draft(principal, action, resource)
        here = self.view.resource(resource)
        name = self._relation(self.view.kind(here), action, role)
        if (self.view.kind(here), name) not in self.view.policy.relations:
            self.view.member(_member_id(principal))
            return False
        changes = [] if edges is None else list(self._edge_changes(here, edges))
        with_changes(self.view, changes)  # as above
        if not self._token_allows(principal, action, here) or not self._holds(principal, name, here):
            return False
        return edges is None or self._edges_allowed(principal, name, here, changes)

    def _relation(self, kind: str, action: str, role: str | None) -> str:
        if role is not None:
            if require_text(action, "action") not in _ROLE_ACTIONS:
                raise InvalidInputError(f"{quote(action)} takes no role.", "Use give or invite.")
            self.view.policy.role(kind, require_text(role, "role"))
            return _ROLE_ACTIONS[action](role)
        self.view.policy.action(kind, require_text(action, "action"))
        self._tests[kind, action] = self.checks.relation_test(kind, action)
        return action

    def _check_draft(self, principal: Principal, action: str, draft: Draft) -> bool:
        if require_text(action, "action") != "create":
            raise InvalidInputError(
                f"A draft can only be created, not {quote(action)}.", did_you_mean(action, ["create"])
            )
        view, number = with_draft(self.view, draft)
        subject = view.subject(view.member(_member_id(principal)))
        if isinstance(principal, TokenPrincipal) and principal.is_narrowed and not _may_create(view, principal, number):
            return False
        if (draft.kind, expr.CREATE_RELATION) not in view.policy.relations:
            return False
        return self.checks.relation_test(draft.kind, expr.CREATE_RELATION)(view, subject, number)

    def _subject(self, principal: Principal) -> MemberSubject:
        return self.view.subject(self.view.member(_member_id(principal)))

    def _holds(self, principal: Principal, name: str, here: int) -> bool:
        return self.checks.relation_test(self.view.kind(here), name)(self.view, self._subject(principal), here)

    def _token_allows(self, principal: Principal, action: str, here: int) -> bool:
        """Return whether the narrowing of a token leaves this action to it."""
        if not isinstance(principal, TokenPrincipal) or not principal.is_narrowed:
            return True
        if action in _ROLE_ACTIONS or (self.view.kind(here), action) in self.view.policy.granting_actions:
            return False
        if principal.actions is not None and action not in principal.actions:
            return False
        return principal.resources is None or lies_within(self.view, here, principal.resources)

    def _token_allows_change(self, principal: Principal, name: str, here: int) -> bool:
        """Return whether the narrowing of a token leaves a change to it: it has the actions that the change needs."""
        if not isinstance(principal, TokenPrincipal) or principal.actions is None:
            return self._token_allows(principal, name, here)
        policy = self.view.policy
        needed = {
            (kind, action)
            for kind, action in policy.referenced_relations(self.view.kind(here), name)
            if action in policy.kinds[kind].schema.actions
        }
        if not needed or needed & policy.granting_actions or not {action for _, action in needed} <= principal.actions:
            return False
        return principal.resources is None or lies_within(self.view, here, principal.resources)

    def _edge_changes(self, here: int, edges: EdgeEndIds) -> Iterable[Add | Remove]:
        uid = self.view.uid(here)
        require_mapping(edges, "edges")
        for edge, targets in edges.items():
            new_ends = set(resolve_targets(self.view, self.view.kind(here), edge, targets))
            if not new_ends:
                refuse_missing_end(self.view, here, edge)
            there = set(self.view.edges_out[edge].get(here) or ())
            for end in new_ends - there:
                refuse_other_parent(self.view, EdgeRow(edge, here, end))
            yield from (Remove(Edge(edge, uid, self.view.uid(end))) for end in there - new_ends)
            yield from (Add(Edge(edge, uid, self.view.uid(end))) for end in new_ends - there)

    def _edges_allowed(self, principal: Principal, name: str, here: int, changes: Sequence[Add | Remove]) -> bool:
        """Return whether the edges may be set: as it is before the change, at their new ends, and after it."""
        view, subject = self.view, self._subject(principal)
        kind = view.kind(here)
        also_after = False
        for change in changes:
            edge = change.fact
            assert isinstance(edge, Edge)  # noqa: S101 - only edges are re-pointed
            declared = view.policy.edge(kind, edge.name)
            setting = expr.link_relation(edge.name)
            if (kind, setting) not in view.policy.relations or not self._holds(principal, setting, here):
                return False
            also_after |= declared.also_after
            if declared.needs and isinstance(change, Add):
                end = view.resource(edge.target)
                if not self.checks.relation_test(view.kind(end), declared.needs)(view, subject, end):
                    return False
        if not also_after:
            return True
        after = with_changes(view, changes)
        return self.checks.relation_test(kind, name)(after, after.subject(subject.id), here)


def _member_id(principal: Principal) -> str:
    return principal.member if isinstance(principal, TokenPrincipal) else principal


def _require_triple(question: object) -> tuple[Principal, str, str]:
    if not isinstance(question, tuple | list) or len(question) != 3:  # noqa: PLR2004 - who, what, on which resource
        raise InvalidInputError(
            f"A question is a principal, an action and a resource, not {repr(question)[:40]}.",
            "For example ('ann', 'read', 'orders').",
        )
    return question[0], question[1], question[2]


def _grants_access(fact: Fact) -> bool:
    """Return whether the fact gives somebody access: a grant, the scope of one, or a membership in a group."""
    if isinstance(fact, Attribute):
        return fact.member is not None
    return isinstance(fact, Grant) or fact.name == MEMBER_OF


def _may_create(view: FactView, token: TokenPrincipal, number: int) -> bool:
    if view.kind(number) == MEMBER:
        return False
    if token.actions is not None and "create" not in token.actions:
        return False
    return token.resources is None or lies_within(view, number, token.resources)
