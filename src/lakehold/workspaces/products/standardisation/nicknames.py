"""Finds the given name that a short form stands for.

The facts of `nicknames.yaml` go first; a short form that they do not have, and that the library knows of one name
only, is that name's.
"""

from functools import cache

from nicknames import NickNamer

from lakehold.workspaces.products.standardisation.texts import fold, read_facts


@cache
def _formal_names() -> dict[str, str]:
    found: dict[str, str] = {}
    for of_language in read_facts("nicknames.yaml").values():
        for name, forms in of_language.items():
            for form in forms.split():
                found.setdefault(fold(form), fold(name))
    return {form: name for form, name in found.items() if form != name}


@cache
def _library() -> NickNamer:
    return NickNamer()


@cache
def _names() -> frozenset[str]:
    """Return the names that have short forms."""
    return frozenset(_formal_names().values())


def formal_name(given: str) -> str:
    """Return the name that a folded given name is a short form of; the name itself if it is none."""
    if given in _names():
        return given
    if found := _formal_names().get(given):
        return found
    known = {fold(each) for each in _library().canonicals_of(given)} if given and len(given) < _LONGEST else set()
    if len(known) != 1 or _library().nicknames_of(given) - known:
        return given
    (name,) = known
    return _formal_names().get(name, name)


_LONGEST = 20
