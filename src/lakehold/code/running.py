"""Runs the assertions that files keep: against the files alone, or against a tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from time import perf_counter

from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import GROUP, MEMBER, MEMBER_OF
from lakehold.access.session import AccessSession
from lakehold.code.cases import Case, Expected
from lakehold.code.declared import Declared
from lakehold.code.reasons import why
from lakehold.code.refs import Ids
from lakehold.code.world import view_at
from lakehold.kit.clock import Moment, now
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.kit.ids import quote

Uid = Callable[[str], str]
Asked = Callable[[Moment | None], AbstractContextManager[FactView]]


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is not what was expected."""

    member: str
    asked: Expected
    resource: str
    why: tuple[str, ...]

    def __str__(self) -> str:
        may = "may not" if self.asked.allowed else "may"
        wanted = "expected to be allowed" if self.asked.allowed else "expected not to be allowed"
        return f"{self.member} {may} {self.asked} {self.resource}, {wanted}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one test."""

    case: Case
    questions: int
    failures: tuple[Failure, ...]
    error: str
    """Why it could not be asked at all; empty if it could."""
    seconds: float

    @property
    def result(self) -> str:
        """`passed`, `failed` or `error`."""
        return "error" if self.error else "failed" if self.failures else "passed"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of all tests, in the order of the files."""

    outcomes: tuple[Outcome, ...]
    seconds: float

    def count(self, result: str) -> int:
        """How many ended like this."""
        return sum(outcome.result == result for outcome in self.outcomes)

    @property
    def questions(self) -> int:
        """How many single questions were asked."""
        return sum(outcome.questions for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """0 if all passed, 1 if not, 5 if there was none: as pytest has it."""
        if not self.outcomes:
            return 5
        return 0 if self.count("passed") == len(self.outcomes) else 1


def run_files(declared: Declared, at: Moment | None = None) -> Report:
    """Run the tests against the files themselves."""
    present = now() if at is None else at

    @contextmanager
    def asked(moment: Moment | None) -> Iterator[FactView]:
        yield view_at(declared.company, present if moment is None else moment)

    return _run(declared.tests, asked, lambda ref: ref)


def run_session(declared: Declared, session: AccessSession) -> Report:
    """Run the tests against a tenant."""
    ids = session.read_view(lambda view: Ids.of(view, session.tenant))

    @contextmanager
    def asked(moment: Moment | None) -> Iterator[FactView]:
        questions = session if moment is None else session.as_of(moment)
        with questions.view_lock():
            yield questions.current_view()

    return _run(declared.tests, asked, ids.uid)


def _run(tests: Iterable[Case], asked: Asked, uid: Uid) -> Report:
    start = perf_counter()
    by_moment: dict[Moment | None, list[tuple[int, Case]]] = {}
    for number, case in enumerate(tests):
        by_moment.setdefault(case.at, []).append((number, case))
    found: list[tuple[int, Outcome]] = []
    for moment, cases in by_moment.items():
        with asked(moment) as view:
            runner = _Runner(view, uid)
            found.extend((number, runner.outcome(case)) for number, case in cases)
    found.sort(key=lambda entry: entry[0])
    return Report(tuple(outcome for _, outcome in found), perf_counter() - start)


class _Runner:
    """Asks one view."""

    def __init__(self, view: FactView, uid: Uid) -> None:
        self._view = view
        self._decisions = DecisionEvaluator(view)
        self._uid = uid

    def outcome(self, case: Case) -> Outcome:
        start, questions, failures, error = perf_counter(), 0, [], ""
        try:
            members = self._members(case.who)
            for resource in case.on:
                self._look(resource)
                for member in members:
                    for asked in case.expected:
                        questions += 1
                        allowed = self._check(member, asked, self._uid(resource))
                        if allowed != asked.allowed:
                            reasons = why(self._view, member, asked, self._uid(resource), allowed=allowed)
                            failures.append(Failure(member, asked, resource, reasons))
        except LakeholdError as refused:
            error = str(refused)
        return Outcome(case, questions, tuple(failures), error, perf_counter() - start)

    def _check(self, member: str, asked: Expected, resource: str) -> bool:
        return self._decisions.check(member, asked.action, resource, role=asked.role)

    def _look(self, ref: str) -> int:
        """The number of what files call so."""
        number = self._view.ids.get(self._uid(ref))
        if number is None:
            known = [uid for kind in self._view.policy.kinds for uid in self._uids(kind)]
            near = did_you_mean(ref, known)
            hint = near if near.startswith("Did") else "Look the id up in the files."
            raise InvalidInputError(f"There is nothing called {quote(ref)}.", hint)
        return number

    def _uids(self, kind: str) -> Iterator[str]:
        return (self._view.uid(number) for number in self._view.by_kind.get(kind) or ())

    def _members(self, who: Iterable[str]) -> list[str]:
        """The members, and everybody who is in one of the groups."""
        found: dict[str, None] = {}
        for ref in who:
            number = self._look(ref)
            kind = self._view.kind(number)
            if kind == MEMBER:
                found[self._view.uid(number)] = None
                continue
            if kind not in {GROUP, ALL_MEMBERS}:
                raise InvalidInputError(f"{quote(ref)} is a {kind}.", "Name members and groups.")
            inside = list(self._uids(MEMBER)) if kind == ALL_MEMBERS else self._in_group(number)
            if not inside:
                raise InvalidInputError(f"Nobody is in {quote(ref)}.", "A test of nobody says nothing.")
            found |= dict.fromkeys(inside)
        return list(found)

    def _in_group(self, group: int) -> list[str]:
        return sorted(self._view.uid(member) for member in self._view.edges_in[MEMBER_OF].get(group) or ())
