"""Two tenants in which every id and name is a random word that is used nowhere else."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lakehold import workspaces
from lakehold.access import Grant
from lakehold.access.facts.records import Fact
from lakehold.access.facts.store import FactStore
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.demo import company
from lakehold.directory.platform import Platform
from tests.laws.facts import rename_fact

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SYLLABLES = 6
_RANDOM_GRANTS = 25


_WORD = re.compile(rf"(?=((?:[{_CONSONANTS}][{_VOWELS}]){{{_SYLLABLES}}}))")


def words_in(text: str) -> list[str]:
    """Everything in a text that may be one of our words, also in the middle of something longer."""
    return _WORD.findall(text.lower())


class Words:
    """Words that nobody has used before."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - the same words in every run
        self._used: set[str] = set()

    def new(self) -> str:
        """Another one."""
        while True:
            word = "".join(self.rng.choice(_CONSONANTS) + self.rng.choice(_VOWELS) for _ in range(_SYLLABLES))
            if word not in self._used:
                self._used.add(word)
                return word


@dataclass(slots=True)
class Tenant:
    """The demo company under other names."""

    uid: str
    words: Words
    ids: dict[str, str] = field(default_factory=dict)
    """From the demo's ids to those used here."""
    names: dict[str, str] = field(default_factory=dict)
    """From the ids used here to names."""

    def id(self, demo: str) -> str:
        """The id that stands for one of the demo."""
        return self.ids.setdefault(demo, self.words.new())


class _RenamingStore:
    """A store that writes everything under other names."""

    def __init__(self, store: FactStore, tenant: Tenant) -> None:
        self._store, self._tenant = store, tenant

    def create(
        self,
        kind: str,
        name: str,
        *,
        uid: str,
        edges: Mapping[str, str | Sequence[str]] | None = None,
        attributes: Mapping[str, str | bool] | None = None,
        creator: str | None = None,
    ) -> str:
        del name
        here = self._tenant
        ends = {
            edge: here.id(to) if isinstance(to, str) else [here.id(each) for each in to]
            for edge, to in (edges or {}).items()
        }
        here.names[here.id(uid)] = here.words.new()
        self._store.create(
            kind,
            here.names[here.id(uid)],
            uid=here.id(uid),
            edges=ends,
            attributes=attributes,
            creator=None if creator is None else here.id(creator),
        )
        return uid

    def add(self, fact: Fact) -> None:
        everything = {uid: self._tenant.id(uid) for uid in _mentioned(fact)}
        self._store.add(rename_fact(fact, everything))


def _mentioned(fact: Fact) -> list[str]:
    values = (getattr(fact, name, None) for name in ("subject", "resource", "source", "target", "member"))
    return [value for value in values if isinstance(value, str)]


def create_renamed_tenant(platform: Platform, words: Words) -> Tenant:
    """Create a tenant with all four workspaces, and some roles granted at random."""
    here = Tenant(words.new(), words)
    here.ids[company.TENANT] = here.uid
    here.names[here.uid] = words.new()
    platform.access.create_tenant(here.uid, here.names[here.uid], workspaces.models())
    here.ids[f"{company.TENANT}/all"] = f"{here.uid}/all"
    with platform.access.write(here.uid) as session:
        store = cast("Any", _RenamingStore(session.store, here))
        company.load_people(store)
        company.load_resources(store)
        for grant in _at_random(session.current_view(), here):
            session.store.add(grant)
    return here


def _at_random(view: FactView, here: Tenant) -> list[Grant]:
    """Roles on anything but the tenant, for anybody."""
    rng = here.words.rng
    members = [uid for uid in here.names if view.kind(view.resource(uid)) == MEMBER]
    found: list[Grant] = []
    while len(found) < _RANDOM_GRANTS:
        uid = rng.choice(list(here.names))
        kind = view.policy.kinds[view.kind(view.resource(uid))].schema
        roles = [role.name for role in kind.roles.values() if not role.single and kind.model != "tenant"]
        if roles:
            found.append(Grant(rng.choice(members), rng.choice(roles), uid))
    return found
