"""Runs the assertions in files, against the files alone or against a tenant."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from time import perf_counter

from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.decisions.explanation import Explainer, RulePath
from lakehold.access.decisions.ways import WayFinder
from lakehold.access.facts.descriptions import describe_fact, describe_resource
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF
from lakehold.access.session import AccessSession
from lakehold.access_as_code.assertions import Assertion, Expectation
from lakehold.access_as_code.desired_state import DesiredState
from lakehold.access_as_code.file_format import IdMapping
from lakehold.access_as_code.tenant_state import view_at
from lakehold.kit.clock import Moment, now
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.ids import quote

_MOST_WAYS = 3


def _explain_allowed(view: FactView, member: str, expectation: Expectation, resource: str) -> Iterator[str]:
    subject, here = view.subject(view.member(member)), view.resource(resource)
    explainer = Explainer(view, lambda _: True)
    if expectation.role:
        expression = view.policy.relations[view.kind(here), expectation.relation]
        reason = explainer.reason(expression, view.kind(here), subject, here, held_only=True)
        title = view.policy.role(view.kind(here), expectation.role).title
        yield from _describe_path(view, RulePath(f"who may {expectation.action} {title}", "", reason))
        return
    for path in explainer.paths(subject, expectation.action, here, held_only=True):
        yield from _describe_path(view, path)


def _describe_path(view: FactView, path: RulePath) -> Iterator[str]:
    yield f"by: {path.rule}" + (f"  ({path.place})" if path.place else "")
    for fact in dict.fromkeys(path.reason.all_facts()):
        yield f"    {describe_fact(view, fact)}"


def _explain_denied(view: FactView, member: str, expectation: Expectation, resource: str) -> Iterator[str]:
    subject, here = view.subject(view.member(member)), view.resource(resource)
    kind = view.kind(here)
    expression = view.policy.relations.get((kind, expectation.relation))
    if expression is None:
        yield "no line of the model allows it to anybody"
        return
    if not expectation.role:
        for gate in Explainer(view, lambda _: True).gates(subject, expectation.action, here):
            if not gate.held:
                yield f"stopped by: {gate.rule}  ({gate.place})"
    finder = WayFinder(view)
    for facts in islice(finder.find(expression, kind, subject, here), _MOST_WAYS):
        needed = finder.missing_facts(facts)
        givers = dict.fromkeys(giver for need in needed for giver in need.givers[:2])
        by = f" (by {', '.join(describe_resource(view, giver) for giver in givers)})" if givers else ""
        yield f"would allow it: {' and '.join(describe_fact(view, need.fact) for need in needed)}{by}"


UidLookup = Callable[[str], str]
ViewOpener = Callable[[Moment | None], AbstractContextManager[FactView]]


@dataclass(frozen=True, slots=True)
class AssertionFailure:
    """An answer that differs from the expected one."""

    member: str
    expectation: Expectation
    resource: str
    why: tuple[str, ...]

    def __str__(self) -> str:
        may = "may not" if self.expectation.allowed else "may"
        expected = "expected to be allowed" if self.expectation.allowed else "expected not to be allowed"
        return f"{self.member} {may} {self.expectation} {self.resource}, {expected}"


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """The result of one assertion."""

    assertion: Assertion
    questions: int
    failures: tuple[AssertionFailure, ...]
    error: str
    """Why it could not be evaluated; empty if it could."""
    seconds: float

    @property
    def result(self) -> str:
        """`passed`, `failed` or `error`."""
        return "error" if self.error else "failed" if self.failures else "passed"


@dataclass(frozen=True, slots=True)
class AssertionReport:
    """The results of all assertions, in the order of the files."""

    results: tuple[AssertionResult, ...]
    seconds: float

    def count(self, result: str) -> int:
        """Return the number of assertions with this result."""
        return sum(outcome.result == result for outcome in self.results)

    @property
    def questions(self) -> int:
        """The number of single access checks."""
        return sum(outcome.questions for outcome in self.results)

    @property
    def exit_code(self) -> int:
        """0 if all passed, 1 if not, 5 if there was none, as in pytest."""
        if not self.results:
            return 5
        return 0 if self.count("passed") == len(self.results) else 1


def run_files(declared: DesiredState, at: Moment | None = None) -> AssertionReport:
    """Run the tests against the files themselves."""
    present = now() if at is None else at

    def open_view(moment: Moment | None) -> AbstractContextManager[FactView]:
        return nullcontext(view_at(declared.state, present if moment is None else moment))

    return _run(declared.tests, open_view, lambda ref: ref)


def run_session(declared: DesiredState, session: AccessSession) -> AssertionReport:
    """Run the tests against a tenant."""
    ids = session.read_view(lambda view: IdMapping.from_view(view, session.tenant))

    @contextmanager
    def open_view(moment: Moment | None) -> Iterator[FactView]:
        questions = session if moment is None else session.as_of(moment)
        with questions.view_lock():
            yield questions.current_view()

    return _run(declared.tests, open_view, ids.uid)


def _run(tests: Sequence[Assertion], open_view: ViewOpener, uid: UidLookup) -> AssertionReport:
    start = perf_counter()
    found: dict[int, AssertionResult] = {}
    for moment in dict.fromkeys(assertion.at for assertion in tests):
        with open_view(moment) as view:
            runner = _Runner(view, uid)
            found |= {n: runner.run(assertion) for n, assertion in enumerate(tests) if assertion.at == moment}
    return AssertionReport(tuple(found[n] for n in sorted(found)), perf_counter() - start)


class _Runner:
    """Runs assertions on one view."""

    def __init__(self, view: FactView, uid: UidLookup) -> None:
        self._view = view
        self._decisions = DecisionEvaluator(view)
        self._uid = uid

    def run(self, assertion: Assertion) -> AssertionResult:
        start, questions, failures, error = perf_counter(), 0, [], ""
        try:
            members = self._members(assertion.who)
            for resource in assertion.on:
                self._find(resource)
                for member in members:
                    for expectation in assertion.expected:
                        questions += 1
                        uid, action, role = self._uid(resource), expectation.action, expectation.role
                        allowed = self._decisions.check(member, action, uid, role=role)
                        if allowed != expectation.allowed:
                            # Nothing is hidden, since readers may read the whole tenant.
                            explain = _explain_allowed if allowed else _explain_denied
                            reasons = tuple(explain(self._view, member, expectation, uid))
                            failures.append(AssertionFailure(member, expectation, resource, reasons))
        except LakeholdError as refused:
            error = str(refused)
        return AssertionResult(assertion, questions, tuple(failures), error, perf_counter() - start)

    def _find(self, ref: str) -> int:
        """Return the number of the resource with this id in the files."""
        number = self._view.ids.get(self._uid(ref))
        if number is None:
            known = [uid for kind in self._view.policy.kinds for uid in self._uids(kind)]
            hint = did_you_mean(ref, known, "Check the ID in the files.")
            raise InvalidInputError(f"There is nothing called {quote(ref)}.", hint)
        return number

    def _uids(self, kind: str) -> Iterator[str]:
        return (self._view.uid(number) for number in self._view.by_kind.get(kind) or ())

    def _members(self, who: Iterable[str]) -> list[str]:
        """Return the members, and everybody in one of the groups."""
        found: dict[str, None] = {}
        for ref in who:
            number = self._find(ref)
            kind = self._view.kind(number)
            if kind == MEMBER:
                found[self._view.uid(number)] = None
                continue
            if kind not in {GROUP, ALL_MEMBERS}:
                raise InvalidInputError(f"{quote(ref)} is a {kind}.", "Name members and groups.")
            in_group = self._view.edges_in[MEMBER_OF].get(number) or ()
            inside = list(self._uids(MEMBER)) if kind == ALL_MEMBERS else sorted(map(self._view.uid, in_group))
            if not inside:
                raise InvalidInputError(f"Nobody is in {quote(ref)}.", "A test needs at least one member.")
            found |= dict.fromkeys(inside)
        return list(found)
