"""The comparisons by the types of attributes, with the shares that are expected before training."""

from collections.abc import Iterator, Mapping, Sequence

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.matching.comparisons import (
    BRANCH,
    NAMESAKE,
    NEIGHBOUR,
    RELATIVE,
    Comparison,
    Level,
    MatchedAttribute,
    absent,
    alike,
    edits,
    equal,
)

_Types = Mapping[AttributeType, MatchedAttribute]
ELSE = "ELSE"


def build_comparisons(attributes: Sequence[MatchedAttribute]) -> list[Comparison]:
    """Return the comparisons of a product's matched attributes."""
    first: dict[AttributeType, MatchedAttribute] = {}
    for attribute in attributes:
        first.setdefault(attribute.type, attribute)
    several = list(_combined(first))
    used = {name for comparison in several for name in comparison.columns}
    places = {"place"} & {comparison.name for comparison in several}
    alone = (_single(each) for each in attributes if not _is_used(each, used, placed=bool(places)))
    return [*several, *(comparison for comparison in alone if comparison)]


def _is_used(attribute: MatchedAttribute, columns: set[str], *, placed: bool) -> bool:
    """Return whether a comparison has it; region and country follow from the place."""
    if placed and attribute.type in {AttributeType.REGION, AttributeType.COUNTRY}:
        return True
    return any(column.startswith(attribute.name + "__") for column in columns)


def _combined(first: _Types) -> Iterator[Comparison]:
    """Yield the comparisons that look at several attributes, or at one that rivals share."""
    given, family = name_columns(first)
    if given and family:
        yield from _person_name(given[0], given[1], family)
    elif given:
        yield _given_name(given[0], given[1], "")
    elif family:
        yield _family_name(family, "")
    if company := first.get(AttributeType.COMPANY_NAME):
        yield _company_name(company)
        yield _legal_form(company)
    if place := _place(first):
        yield place


def name_columns(first: _Types) -> tuple[tuple[str, str] | None, str]:
    """Return the columns of the given name and its long form, and of the family name."""
    full = first.get(AttributeType.FULL_NAME)
    given, family = first.get(AttributeType.GIVEN_NAME), first.get(AttributeType.FAMILY_NAME)
    names = (given.column(), given.column("nick")) if given else None
    if names is None and full:
        names = (full.column("given"), full.column("nick"))
    return names, family.column() if family else full.column("family") if full else ""


def _person_name(given: str, nick: str, family: str) -> Iterator[Comparison]:
    swapped = f"({given}_l = {family}_r and {family}_l = {given}_r and {given}_l <> {given}_r)"
    yield _given_name(given, nick, swapped)
    yield _family_name(family, swapped)


def _given_name(given: str, nick: str, swapped: str) -> Comparison:
    initial = f"(least(length({given}_l), length({given}_r)) = 1 and {given}_l[1] = {given}_r[1])"
    close = f"({alike(given, 0.9)} or {edits(given, 1, 3)})"
    levels = [
        Level("same", equal(given), 0.78, {NAMESAKE: 0.88}, given),
        Level("short form", equal(nick), 0.06, {NAMESAKE: 0.04}),
        Level("initial", initial, 0.02, {NAMESAKE: 0.02}),
        Level("swapped", swapped, 0.02, {NAMESAKE: 0.01}),
        Level("similar", close, 0.08, {NAMESAKE: 0.04}),
        Level("different", ELSE, 0.04, {NAMESAKE: 0.01}),
    ]
    kept = tuple(level for level in levels if level.condition)
    return Comparison("given_name", (given, nick), absent(given), kept)


def _family_name(family: str, swapped: str) -> Comparison:
    part = f"(starts_with({family}_l, {family}_r || ' ') or starts_with({family}_r, {family}_l || ' '))"
    missing = absent(family) + (f" or {swapped}" if swapped else "")
    levels = (
        Level("same", equal(family), 0.85, {NAMESAKE: 0.93, RELATIVE: 0.82}, family),
        Level("similar", f"({alike(family, 0.92)} or {edits(family, 1, 4)})", 0.08, {NAMESAKE: 0.05, RELATIVE: 0.05}),
        Level("double name", part, 0.02, {NAMESAKE: 0.01, RELATIVE: 0.02}),
        Level("different", ELSE, 0.05, {NAMESAKE: 0.01, RELATIVE: 0.11}),
    )
    return Comparison("family_name", (family,), missing, levels)


def _company_name(attribute: MatchedAttribute) -> Comparison:
    key, words, first = (attribute.column(part) for part in ("key", "sorted", "first"))
    longer = f"(starts_with({key}_l, {key}_r || ' ') or starts_with({key}_r, {key}_l || ' '))"
    levels = (
        Level("same", equal(key), 0.74, {BRANCH: 0.25}, key),
        Level("other order", equal(words), 0.03, {BRANCH: 0.01}),
        Level("one typing error", edits(key, 1, 4), 0.08, {BRANCH: 0.03}),
        Level("two typing errors", edits(key, 2, 10), 0.03, {BRANCH: 0.02}),
        Level("one is longer", longer, 0.05, {BRANCH: 0.32}),
        Level("same first word", equal(first), 0.02, {BRANCH: 0.32}, first),
        Level("similar", alike(key, 0.92), 0.02, {BRANCH: 0.02}),
        Level("different", ELSE, 0.03, {BRANCH: 0.03}),
    )
    return Comparison("company_name", (key, words, first), absent(key), levels)


def _legal_form(attribute: MatchedAttribute) -> Comparison:
    form = attribute.column("form")
    levels = (Level("same", equal(form), 0.93, {BRANCH: 0.6}), Level("different", ELSE, 0.07, {BRANCH: 0.4}))
    return Comparison("legal_form", (form,), absent(form), levels)


_SAME = {RELATIVE: 0.82, NEIGHBOUR: 0.85, BRANCH: 0.1}
_NEAR = {RELATIVE: 0.1, NEIGHBOUR: 0.1, BRANCH: 0.03}


def _place(first: _Types) -> Comparison | None:
    """Compare the parts of an address as one: they change together when somebody moves."""
    street, postcode, city = (
        first.get(each) for each in (AttributeType.STREET, AttributeType.POSTCODE, AttributeType.CITY)
    )
    areas = [each.column() for each in (postcode, city) if each]
    if not street and not areas:
        return None
    levels: list[Level] = []
    missing = " and ".join(f"({absent(each)})" for each in areas) if areas else ""
    if street:
        levels += _street_levels(street.column(), street.column("number"), areas)
        missing = f"({absent(street.column())})" + (f" and {missing}" if missing else "")
    if postcode:
        levels.append(Level("same postcode", equal(postcode.column()), 0.08, _FAR, postcode.column()))
    if city:
        levels.append(Level("same city", equal(city.column()), 0.08, _FAR, city.column()))
        levels.append(Level("similar city", edits(city.column(), 1, 4), 0.03, _FAR))
    levels.append(Level("different", ELSE, 0.12, {RELATIVE: 0.03, NEIGHBOUR: 0.01, BRANCH: 0.7}))
    columns = [*areas, *((street.column(), street.column("number")) if street else ())]
    return Comparison("place", tuple(columns), missing, tuple(levels))


_FAR = {RELATIVE: 0.02, NEIGHBOUR: 0.01, BRANCH: 0.06}


def _street_levels(street: str, number: str, areas: list[str]) -> Iterator[Level]:
    near = f"({' or '.join(equal(each) for each in areas)})" if areas else "true"
    anywhere = " and ".join(f"({absent(each)})" for each in areas) or "false"
    number_equal = f"{number}_l = {number}_r"
    similar = f"({equal(street)} or {alike(street, 0.9)} or {edits(street, 1, 4)})"
    yield Level("same address", f"({equal(street)} and {number_equal} and {near})", 0.5, _SAME)
    similar_address = (
        f"({similar} and ({number_equal} or {absent(number)} or {edits(number, 1)}) and ({near} or {anywhere}))"
    )
    yield Level("similar address", similar_address, 0.15, _NEAR)
    yield Level("same street and number", f"({similar} and {number_equal})", 0.03, _NEAR)
    yield Level("same street", f"({similar} and {near})", 0.01, _FAR)


def _single(attribute: MatchedAttribute) -> Comparison | None:
    """Return the comparison of one attribute alone."""
    key, kind = attribute.column(), attribute.type
    if kind in _LEVELS:
        missing = absent(key)
        return Comparison(attribute.name, (key, *_more_columns(attribute)), missing, _LEVELS[kind](attribute))
    return None


def _more_columns(attribute: MatchedAttribute) -> tuple[str, ...]:
    parts = {AttributeType.EMAIL: ("user", "domain"), AttributeType.PHONE: ("tail",), AttributeType.DATE: ("year",)}
    return tuple(attribute.column(part) for part in parts.get(attribute.type, ()))


def _email(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key, user, domain = attribute.column(), attribute.column("user"), attribute.column("domain")
    both = {RELATIVE: 0.12, NAMESAKE: 0.002, NEIGHBOUR: 0.03, BRANCH: 0.1}
    return (
        Level("same", equal(key), 0.68, both, key),
        Level(
            "one typing error", edits(key, 1, 6), 0.08, {RELATIVE: 0.01, NAMESAKE: 0.02, NEIGHBOUR: 0.01, BRANCH: 0.02}
        ),
        Level("same user", equal(user), 0.06, {RELATIVE: 0.02, NAMESAKE: 0.15, NEIGHBOUR: 0.05, BRANCH: 0.05}),
        Level(
            "same domain", equal(domain), 0.08, {RELATIVE: 0.25, NAMESAKE: 0.2, NEIGHBOUR: 0.06, BRANCH: 0.45}, domain
        ),
        Level("different", ELSE, 0.10, {RELATIVE: 0.6, NAMESAKE: 0.62, NEIGHBOUR: 0.85, BRANCH: 0.38}),
    )


def _phone(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key, tail = attribute.column(), attribute.column("tail")
    return (
        Level("same", equal(key), 0.68, {RELATIVE: 0.4, NEIGHBOUR: 0.1, BRANCH: 0.08}, key),
        Level("same last digits", equal(tail), 0.04, {RELATIVE: 0.02, NEIGHBOUR: 0.01, BRANCH: 0.01}),
        Level("one typing error", edits(key, 1, 7), 0.07, {RELATIVE: 0.04, NEIGHBOUR: 0.01, BRANCH: 0.01}),
        Level(
            "same line", f"left({key}_l, -2) = left({key}_r, -2)", 0.03, {RELATIVE: 0.01, NEIGHBOUR: 0.03, BRANCH: 0.05}
        ),
        Level("different", ELSE, 0.18, {RELATIVE: 0.53, NEIGHBOUR: 0.85, BRANCH: 0.85}),
    )


def _date(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key, year = attribute.column(), attribute.column("year")
    swapped = f"({equal(year)} and {key}_l[6:7] = {key}_r[9:10] and {key}_l[9:10] = {key}_r[6:7])"
    return (
        Level("same", equal(key), 0.84, {}, key),
        Level("one typing error", f"({edits(key, 1)} or {swapped})", 0.09),
        Level(
            "two parts agree",
            f"({equal(year)} and left({key}_l, 7) = left({key}_r, 7)"
            f" or {key}_l[6:10] = {key}_r[6:10] or {equal(year)} and {key}_l[9:10] = {key}_r[9:10])",
            0.03,
        ),
        Level("different", ELSE, 0.04),
    )


def _identifier(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key = attribute.column()
    return (
        Level("same", equal(key), 0.88, {}, key),
        Level("one typing error", edits(key, 1, 6), 0.07),
        Level("different", ELSE, 0.05),
    )


def _text(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key = attribute.column()
    return (
        Level("same", equal(key), 0.7, {}, key),
        Level("one typing error", edits(key, 1, 5), 0.08),
        Level("similar", alike(key, 0.9), 0.08),
        Level("somewhat similar", alike(key, 0.8), 0.06),
        Level("different", ELSE, 0.08),
    )


def _name(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key = attribute.column()
    close = f"({alike(key, 0.92)} or {edits(key, 1, 4)})"
    return (Level("same", equal(key), 0.82, {}, key), Level("similar", close, 0.1), Level("different", ELSE, 0.08))


def _number(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key = attribute.column()
    left, right = (f"try_cast({key}_{side} as double)" for side in "lr")
    close = f"abs({left} - {right}) <= 0.01 * greatest(abs({left}), abs({right}))"
    return (Level("same", equal(key), 0.85, {}, key), Level("within 1 %", close, 0.05), Level("different", ELSE, 0.1))


def _category(attribute: MatchedAttribute) -> tuple[Level, ...]:
    key = attribute.column()
    return (Level("same", equal(key), 0.9, {}, key), Level("different", ELSE, 0.1))


_LEVELS = {
    AttributeType.EMAIL: _email,
    AttributeType.PHONE: _phone,
    AttributeType.DATE: _date,
    AttributeType.IDENTIFIER: _identifier,
    AttributeType.TEXT: _text,
    AttributeType.FULL_NAME: _name,
    AttributeType.GIVEN_NAME: _name,
    AttributeType.FAMILY_NAME: _name,
    AttributeType.COMPANY_NAME: _name,
    AttributeType.STREET: _name,
    AttributeType.CITY: _name,
    AttributeType.POSTCODE: _category,
    AttributeType.REGION: _category,
    AttributeType.COUNTRY: _category,
    AttributeType.NUMBER: _number,
    AttributeType.CATEGORY: _category,
}
