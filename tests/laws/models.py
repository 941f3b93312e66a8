"""Random small models, as YAML that the loader accepts, and random facts for them.

All kinds have the same roles, attributes and actions, so that a path can end at any of them. No definition is cyclic by
construction: a relation asks only for those of an earlier stage, or of the same stage at an earlier kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import assume
from hypothesis import strategies as st

from lakehold.access.model.errors import ModelError
from tests.laws.facts import Case, cases, random_policy

NAME = "little"
TENANT = "tenant"
ROLES, DEFINED, FIRST, SECOND = range(4)
_NAMED = {ROLES: ("r1", "r2", "owner"), DEFINED: ("d",), FIRST: ("a1",), SECOND: ("a2",)}
_CONDITIONS = ("f", "v = x", "v = y", "s = q")
_IN_TENANT = ("admin", "viewer", "plan = starter")


@dataclass(frozen=True, slots=True)
class Pointer:
    """An edge, or one seen from behind."""

    name: str
    to: tuple[str, ...]
    many: bool = False
    back: str = ""


@dataclass(slots=True)
class Sketch:
    """A kind before its rules are written."""

    name: str
    up: Pointer
    personal: bool = False
    """Whether its second role goes to persons only."""
    edges: list[Pointer] = field(default_factory=list)
    behind: list[Pointer] = field(default_factory=list)

    def steps(self) -> list[Pointer]:
        """Everything that a quantifier can go along."""
        around = [] if TENANT in self.up.to else [self.up]
        return [*around, *self.edges, *self.behind]

    def to_one(self) -> list[Pointer]:
        """Everything that a path can go along."""
        return [self.up, *(edge for edge in self.edges if not edge.many)]


@st.composite
def sketches(draw: st.DrawFn, *, plain: bool) -> list[Sketch]:
    """Two to four kinds with edges. Plain ones lie in one kind each, so that All can mean the members of the first."""
    names = [f"t{number}" for number in range(1, draw(st.integers(2, 4)) + 1)]
    found = [Sketch("t1", Pointer("up", (TENANT,)))]
    for place, name in enumerate(names[1:], 1):
        above = draw(st.lists(st.sampled_from(names[:place]), min_size=1, max_size=1 if plain else 2, unique=True))
        nested = [] if plain or not draw(st.booleans()) else [name]
        found.append(Sketch(name, Pointer("up", (*sorted(above), *nested), back="inside")))
    for sketch in found:
        sketch.personal = draw(st.booleans())
        for number in range(1, draw(st.integers(0, 2)) + 1):
            to = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
            back = f"b{number}_{sketch.name}" if draw(st.booleans()) else ""
            sketch.edges.append(Pointer(f"e{number}", tuple(sorted(to)), draw(st.booleans()), back))
    _look_back(found)
    return found


def _look_back(found: Sequence[Sketch]) -> None:
    for sketch in found:
        behind: dict[str, list[str]] = {}
        for other in found:
            for edge in (other.up, *other.edges):
                if edge.back and sketch.name in edge.to:
                    behind.setdefault(edge.back, []).append(other.name)
        sketch.behind = [Pointer(name, tuple(sources), many=True) for name, sources in behind.items()]


class Expressions:
    """Writes expressions of one relation of one kind."""

    def __init__(self, draw: st.DrawFn, found: Sequence[Sketch], here: Sketch, stage: int) -> None:
        self._draw = draw
        self._sketches = {sketch.name: sketch for sketch in found}
        self._order = list(self._sketches)
        self._here = here
        self._stage = stage

    def any(self, depth: int = 2) -> str:
        """An expression of a person's rights and conditions."""
        shapes = ["path", "path", "quantified"]
        if depth:
            shapes += ["and", "or", "as", "condition"]
        match self._draw(st.sampled_from(shapes)):
            case "and" | "or" as word:
                return f"({self.any(depth - 1)} {word} {self.any(depth - 1)})"
            case "as":
                return f"as {self._one_person()} ({self.any(depth - 1)})"
            case "quantified":
                return self._quantified()
            case "condition":
                return self.condition()
            case _:
                return self._path((self._here.name,), self._here.to_one())

    def condition(self) -> str:
        """What no person's rights come into."""
        word = self._draw(st.sampled_from(_CONDITIONS))
        steps = [step.name for step in self._here.steps()]
        shapes = ["plain", "not", "and"] + (["any", "no", "where"] if steps else [])
        match self._draw(st.sampled_from(shapes)):
            case "not":
                return f"not {word}"
            case "and":
                return f"({word} and {self._draw(st.sampled_from(('f', 'not f', 's = p')))})"
            case "any" | "no" as quantifier:
                return f"{quantifier}({self._draw(st.sampled_from(steps))})"
            case "where":
                return f"any({self._draw(st.sampled_from(steps))} where {word})"
            case _:
                return word

    def terminal(self, ends: Sequence[str]) -> str:
        """A name that means something at all of these ends."""
        if TENANT in ends:
            return self._draw(st.sampled_from(_IN_TENANT))
        names = [name for stage in range(self._stage) for name in _NAMED[stage]]
        if all(self._order.index(end) < self._order.index(self._here.name) for end in ends):
            names += _NAMED[self._stage]
        return self._draw(st.sampled_from([*names, *names, *_CONDITIONS]))

    def _path(self, ends: Sequence[str], ahead: Sequence[Pointer], steps: int = 2) -> str:
        step = self._draw(st.sampled_from([None, *ahead])) if steps and ahead else None
        if step is None:
            return self.terminal(ends)
        # What lies further away is named alike in every kind, but the tenant has other words.
        further = () if TENANT in step.to else (self._above(step.to),)
        onwards = [one for one in further if TENANT not in one.to or len(one.to) == 1]
        return f"{step.name}.{self._path(step.to, onwards, steps - 1)}"

    def _above(self, ends: Sequence[str]) -> Pointer:
        return Pointer("up", tuple(dict.fromkeys(above for end in ends for above in self._sketches[end].up.to)))

    def _one_person(self) -> str:
        single = [step for step in self._here.to_one() if len(step.to) == 1 and TENANT not in step.to]
        step = self._draw(st.sampled_from([None, *single]))
        return f"{step.name}.owner" if step else "owner"

    def _quantified(self) -> str:
        steps = self._here.steps()
        if not steps:
            return self.terminal((self._here.name,))
        chosen = self._draw(st.lists(st.sampled_from(steps), min_size=1, max_size=2, unique=True))
        texts, ends = [], []
        for step in chosen:
            where = f" where {self._where()}" if self._draw(st.booleans()) else ""
            otherwise = self._draw(st.sampled_from([None, None, *steps]))
            texts.append(step.name + where + (f" else {otherwise.name}" if otherwise else ""))
            ends += [*step.to, *(otherwise.to if otherwise else ())]
        above = self._above(ends)
        onwards = [above] if TENANT not in above.to or len(above.to) == 1 else []
        word = self._draw(st.sampled_from(("any", "every")))
        return f"{word}({', '.join(texts)}).{self._path(ends, onwards, 1)}"

    def _where(self) -> str:
        return self._draw(st.sampled_from((*_CONDITIONS, "not f", "(f or v = z)", "(not v = y and f)")))


@st.composite
def texts(draw: st.DrawFn, found: Sequence[Sketch], *, gathered: bool) -> str:
    """A model of these kinds as YAML. In a gathered one, All means the members of the first kind."""
    lines = [f"model: {NAME}", "extends: [tenant]", *(["everyone: t1"] if gathered else []), "kinds:"]
    for sketch in found:
        lines += _kind(draw, found, sketch)
    return accepted(lines)


def _kind(draw: st.DrawFn, found: Sequence[Sketch], sketch: Sketch) -> Iterator[str]:
    settable = st.sampled_from(("", "", *(f", set_with: {word}" for word in ("a1", "a2", "r1", "owner", "everyone"))))
    yield f"  {sketch.name}:"
    yield f"    in: {{{_edge(sketch.up)}{draw(settable)}}}}}"
    yield "    visible: a1"
    yield from _roles(draw, found, sketch)
    yield "    attributes:"
    yield f'      f: {{values: ["false", "true"]{draw(settable)}}}'
    imported = draw(st.sampled_from(["", "", *(f", imported: {value}" for value in "xyz")]))
    yield f"      v: {{values: [x, y, z], default: {draw(st.sampled_from('xyz'))}{imported}{draw(settable)}}}"
    yield "    membership:"
    yield f"      s: {{values: [p, q]{draw(settable)}}}"
    if sketch.edges:
        yield "    edges:"
    for edge in sketch.edges:
        needs = draw(st.sampled_from(("", ", needs: a1", ", needs: r2")))
        after = draw(st.sampled_from(("", ", also_after: true")))
        yield f"      {_edge(edge)}{draw(settable)}{needs}{after}}}"
    yield "    define:"
    yield f'      d: "{Expressions(draw, found, sketch, DEFINED).any()}"'
    yield "    actions: [a1, a2, never]"
    yield from _rules(draw, found, sketch)


def _edge(edge: Pointer) -> str:
    many = ", many: true" if edge.many else ""
    back = f", back: {edge.back}" if edge.back else ""
    return f"{edge.name}: {{to: [{', '.join(edge.to)}]{many}{back}"


def _roles(draw: st.DrawFn, found: Sequence[Sketch], sketch: Sketch) -> Iterator[str]:
    givable = st.sampled_from(("", *(f", given_with: {word}" for word in ("a1", "a2", "r1", "owner", "up.admin"))))
    write = Expressions(draw, found, sketch, ROLES)
    given = givable if TENANT in sketch.up.to else givable.map(lambda text: text.replace("up.admin", "up.a1"))
    first, second = "title: One", "title: Two" + (", to: person" if sketch.personal else "")
    if draw(st.booleans()):
        first += ", implies: r2"
    if draw(st.booleans()):
        first += f", from: up.{write.terminal(sketch.up.to)}" if _is_earlier(found, sketch) else ", from: f"
    if draw(st.booleans()):
        first += f', when: "{write.condition()}"'
    yield "    roles:"
    yield f"      r1: {{{first}{draw(given)}}}"
    yield f"      r2: {{{second}{draw(given)}}}"
    yield f"      owner: {{to: person, single: true{draw(given)}}}"


def _is_earlier(found: Sequence[Sketch], sketch: Sketch) -> bool:
    """Whether a role can be taken from above without taking it from itself."""
    earlier = [other.name for other in found[: found.index(sketch)]]
    return all(end in (TENANT, *earlier) for end in sketch.up.to)


def _rules(draw: st.DrawFn, found: Sequence[Sketch], sketch: Sketch) -> Iterator[str]:
    first, second = (Expressions(draw, found, sketch, stage) for stage in (FIRST, SECOND))
    if draw(st.booleans()):
        yield "    gates:"
        yield f'      - {{when: "{second.any(1)}", for: a2}}'
    yield "    allow:"
    for may, write in (("[a1, a2]", first), ("a1", first), ("a2", second), ("a2", second)):
        if draw(st.booleans()):
            when = f', when: "{write.condition()}"' if draw(st.booleans()) else ""
            yield f'      - {{who: "{write.any()}"{when}, may: {may}}}'
    yield "      - {who: r1, may: a1}"


def accepted(lines: list[str]) -> str:
    """The model without those rules that the loader refuses, because others say the same or they never hold."""
    while True:
        text = "\n".join(lines) + "\n"
        try:
            random_policy(text)
        except ModelError as error:
            # A rule, or the heading of rules of which none is left.
            assume(lines[error.place.line - 1].startswith(("      - ", "    gates:")))
            del lines[error.place.line - 1]
        else:
            return text


@st.composite
def random_cases(draw: st.DrawFn) -> Case:
    """A random model with random facts."""
    gathered = draw(st.booleans())
    model = draw(texts(draw(sketches(plain=gathered)), gathered=gathered))
    return draw(cases(random_policy(model), [NAME], model, most=3))


@st.composite
def revisions(draw: st.DrawFn) -> tuple[Case, str]:
    """A random model with random facts, and another model with the same kinds, edges and attributes."""
    gathered = draw(st.booleans())
    found = draw(sketches(plain=gathered))
    model, other = (draw(texts(found, gathered=gathered)) for _ in range(2))
    return draw(cases(random_policy(model), [NAME], model, most=3)), other
