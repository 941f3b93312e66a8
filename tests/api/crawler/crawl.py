"""Sends requests as every member, and searches the answers for what the caller may not see."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from lakehold.access import TokenPrincipal
from lakehold.access.decisions.principal import Principal
from lakehold.access.facts.view import FactView
from lakehold.access.session import AccessSession
from lakehold.api.http.app import operations
from lakehold.kit.errors import NotFoundError
from tests.api.client import Api
from tests.api.crawler.request_builder import BuiltRequest, RequestBuilder, ValuePool, fill_path, numbers
from tests.api.crawler.words import Tenant, Words, words_in

_HIDES = re.compile(r"[A-Za-z0-9_-]{16,}")
_COUNTS = {"total", "count", "members", "resources", "pairs", "more_givers"}
_TELLS_ALL = "x-tells-all-to"


@dataclass(frozen=True, slots=True)
class Person:
    """A caller, or an anonymous one if there is no token."""

    name: str
    tenant: Tenant
    principal: Principal
    token: str

    @property
    def member(self) -> str:
        """Whom it is about."""
        return self.principal.member if isinstance(self.principal, TokenPrincipal) else self.principal


@dataclass(frozen=True, slots=True)
class VisibleScope:
    """The ids and words that somebody may see at one moment."""

    seq: int
    ids: frozenset[str]
    words: frozenset[str]


@dataclass(slots=True)
class Crawl:
    """One crawl through all operations."""

    api: Api
    tenants: Sequence[Tenant]
    words: Words
    leaks: list[str] = field(default_factory=list)
    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    _scopes: dict[str, VisibleScope] = field(default_factory=dict)
    _pools: dict[str, tuple[VisibleScope, ValuePool]] = field(default_factory=dict)

    def run(self, people: Sequence[Person], times: int) -> None:
        """Every operation by everybody, so many times: what only reads first, what deletes last."""
        document = self.api.app.openapi()
        filling = RequestBuilder(document, self.words.rng)
        order = ["get", "post", "put", "patch", "delete"]
        for path, method, operation in sorted(operations(document), key=lambda found: order.index(found[1])):
            for person in people:
                for _ in range(times):
                    sent = filling.request(path, method, operation, self._pool(person))
                    self._inspect(person, operation, sent)

    def _inspect(self, person: Person, operation: Mapping[str, Any], sent: BuiltRequest) -> None:
        before = self.visible_scope(person)
        answer = self._send(person, sent)
        name = operation["operationId"]
        self.statuses.setdefault(name, Counter())[answer.status_code] += 1
        request_text = f"{person.name}: {sent.method} {sent.path} {sent.query} {sent.body} -> {answer.status_code}"
        # There is no worker here to be asked.
        is_down = '"code":"unavailable"' in answer.text or '"code":"no_worker"' in answer.text
        if answer.status_code >= 500 and not is_down:
            self.leaks.append(f"{request_text}: {answer.text[:300]}")
        found = self._words_in(answer) - set(words_in(sent.texts()))
        known = before.words | self.visible_scope(person).words if found else before.words
        if self._may_know_all(person, operation):
            known |= _everything(person.tenant)
        for word in found - known:
            self.leaks.append(f"{request_text}: told {word}: {answer.text[:600]}")
        self._count(person, before, request_text, answer)
        self._compare(person, before, sent, request_text, answer)

    def _send(self, person: Person, sent: BuiltRequest) -> httpx.Response:
        # Whatever state it has: what may be changed is looked at here, not whether somebody was faster.
        any_state = {"If-Match": "*"}
        return self.api.call(
            sent.method, sent.path, params=sent.query, json=sent.body, token=person.token, headers=any_state
        )

    def _words_in(self, answer: httpx.Response) -> set[str]:
        headers = " ".join(f"{name} {value}" for name, value in answer.headers.items())
        text = f"{answer.text} {headers}"
        text = " ".join([text, *_decoded(text)])
        return set(words_in(text)) & self._all_words()

    def _all_words(self) -> set[str]:
        return set().union(*(_everything(tenant) for tenant in self.tenants))

    def _count(self, person: Person, before: VisibleScope, request_text: str, answer: httpx.Response) -> None:
        """No number of things is larger than the number of things that the caller sees."""
        if not answer.headers.get("content-type", "").endswith("json") or not answer.content or not person.token:
            return
        most = len(before.ids | self.visible_scope(person).ids)
        for name, value, beside in numbers(json.loads(answer.text)):
            listed = next((beside[key] for key in ("items", "results") if isinstance(beside.get(key), list)), None)
            limit = most * most if name == "pairs" else most
            if name in _COUNTS and (value > limit or (name == "count" and listed is not None and value != len(listed))):
                self.leaks.append(f"{request_text}: counted {name} {value}, and sees {most}")

    def _compare(
        self, person: Person, before: VisibleScope, sent: BuiltRequest, request_text: str, answer: httpx.Response
    ) -> None:
        """What is hidden answers like what does not exist, word for word."""
        hidden = {name: word for name, word in sent.places.items() if word in self._ids() and word not in before.ids}
        if not hidden or not person.token or answer.status_code == 401:
            return
        instead = {word: self.words.new() for word in hidden.values()}
        places = {name: instead.get(word, word) for name, word in sent.places.items()}
        other = BuiltRequest(
            sent.method, fill_path(sent.template, places), sent.template, places, sent.query, sent.body
        )
        missing = self._send(person, other)
        text = missing.text
        for word, new in instead.items():
            text = text.replace(new, word)
        if (answer.status_code, _plain(answer.text)) != (missing.status_code, _plain(text)):
            self.leaks.append(
                f"{request_text}: {answer.text[:300]} differs from {missing.status_code}: {missing.text[:300]}"
            )

    def _ids(self) -> set[str]:
        return {uid for tenant in self.tenants for uid in tenant.names}

    def _pool(self, person: Person) -> ValuePool:
        seen, (filled_by, pool) = self.visible_scope(person), self._pools.get(person.name, (None, None))
        if pool is None or filled_by is not seen:
            pool = self._build_pool(person, seen)
            self._pools[person.name] = (seen, pool)
        return pool

    def _build_pool(self, person: Person, seen: VisibleScope) -> ValuePool:
        hidden = [uid for uid in self._ids() if uid not in seen.ids]
        names = [tenant.names[uid] for tenant in self.tenants for uid in tenant.names if uid not in seen.ids]
        with self.api.platform.access.read(person.tenant.uid) as session:
            policy = session.current_view().policy
            schemas = [kind.schema for kind in policy.kinds.values()]
            return ValuePool(
                hidden=sorted(hidden),
                visible=sorted(seen.ids) or [person.member],
                hidden_names=sorted(names) or ["x"],
                kinds=sorted(policy.kinds),
                actions=sorted({action for schema in schemas for action in schema.actions}),
                roles=sorted({role for schema in schemas for role in schema.roles}),
                attributes=sorted({name for schema in schemas for name in schema.attributes}),
                edges=sorted({edge for schema in schemas for edge in schema.edges}),
                of_kind=_by_kind(session.current_view(), seen.ids),
            )

    def visible_scope(self, person: Person) -> VisibleScope:
        """What the person may see now."""
        with self.api.platform.access.read(person.tenant.uid) as session:
            kept = self._scopes.get(person.name)
            if kept is None or kept.seq != session.seq:
                kept = self._scopes[person.name] = _visible_scope(session, person)
            return kept

    def _may_know_all(self, person: Person, operation: Mapping[str, Any]) -> bool:
        right = operation.get(_TELLS_ALL)
        if right is None or not person.token:
            return False
        with self.api.platform.access.read(person.tenant.uid) as session:
            try:
                return session.check(person.principal, right, person.tenant.uid)
            except NotFoundError:
                return False


def _visible_scope(session: AccessSession, person: Person) -> VisibleScope:
    view = session.current_view()
    own = {person.tenant.uid, person.member} if person.token else set()
    ids = {uid for uid in person.tenant.names if person.token and _sees(session, view, person.principal, uid)} | own
    names = {(view.names.get(view.ids.get(uid) or 0) or "").lower() for uid in ids}
    first = {person.tenant.names.get(uid, "") for uid in ids}
    return VisibleScope(session.seq, frozenset(ids), frozenset(ids | names | first))


def _by_kind(view: FactView, uids: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for uid in sorted(uids):
        number = view.ids.get(uid)
        if number is not None:
            found.setdefault(view.kind(number).rpartition(".")[2], []).append(uid)
    return found


def _sees(session: AccessSession, view: FactView, principal: Principal, uid: str) -> bool:
    number = view.ids.get(uid)
    if number is None:
        return True  # it was deleted meanwhile; its name tells of nothing that is there
    if view.attributes["discoverable"].get(number) == "true":
        return True
    try:
        return session.can_see(principal, uid)
    except NotFoundError:
        return False


def _everything(tenant: Tenant) -> set[str]:
    return {*tenant.names, *tenant.names.values()}


def _decoded(text: str) -> Iterator[str]:
    """What cursors and the like hold."""
    for found in _HIDES.findall(text):
        try:
            yield base64.urlsafe_b64decode(found + "=" * (-len(found) % 4)).decode(errors="ignore")
        except (binascii.Error, ValueError):
            continue


def _plain(text: str) -> str:
    """An answer without what differs from request to request."""
    return re.sub(r'"(request_id|changed_at)":"[^"]*"', "", text)


def person(api: Api, tenant: Tenant, demo: str, name: str = "", **narrowed: frozenset[str]) -> Person:
    """A member by the name that they have in the demo, with a token, which may be narrowed."""
    member = tenant.id(demo)
    token = api.token(member, tenant.uid, **narrowed)
    principal: Principal = TokenPrincipal(member, **narrowed) if narrowed else member
    return Person(name or demo, tenant, principal, token)
