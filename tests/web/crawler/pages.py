"""Follows links as a member, and looks for what they may not see."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit
from zlib import crc32

import httpx

from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.kit.errors import NotFoundError
from lakehold.web.routers import ROUTERS
from tests.api.client import Api
from tests.api.crawler.crawl import Crawl, Person
from tests.api.crawler.words import Tenant, words_in
from tests.web.crawler.links import links_in
from tests.web.crawler.templates import AddressTemplates

TELL_ALL = {"/audit": "see_audit"}
"""Pages that tell everything about the tenant to those who have a right."""
MOST_ALIKE = 3
"""How often a visitor looks at the same page, with a query and without, about things of different kinds."""
_IN_TURN = 3
_FINE = {200, 303, 401, 403, 404, 409, 422}
_ONCE_ONLY = re.compile(r'(name="csrf_token" value|name="csrf-token" content)="[^"]*"|<time[^>]*>[^<]*</time>')
_PLACE = re.compile(r"\{([^}:]+)(?::[^}]*)?\}")


@dataclass(slots=True)
class PageCrawl(Crawl):
    """One crawl of the pages by every member."""

    seen: dict[str, Counter[int]] = field(default_factory=dict)
    """How often each page was answered how, by the template of its address."""
    templates: AddressTemplates = field(default_factory=lambda: AddressTemplates(ROUTERS))
    """Those of all pages."""
    known_words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the name of a visitor: what they know beside what they may see."""
    _kinds: dict[str, str] = field(default_factory=dict)
    _probed: set[tuple[str, str]] = field(default_factory=set)

    def walk(self, person: Person, client: httpx.Client, starts: Iterable[str] = ()) -> list[str]:
        """From the first page wherever links lead, and to every page that needs no id: of each page some, about things
        of different kinds. Returns what was visited.
        """
        named = list(starts)
        waiting = deque(["/", *named, *(page for page in self.templates.all() if "{" not in page)])
        known = set(waiting)
        visited: list[str] = []
        shapes: set[object] = set()
        times: Counter[object] = Counter()
        while waiting:
            address = waiting.popleft()
            shape, page = self._shape(address), (self.templates.match(address), "?" in address)
            if shape in shapes or (times[page] == MOST_ALIKE and address not in named):
                continue
            shapes.add(shape)
            # Where somebody begins takes no place of what links lead to.
            times[page] += address not in named
            visited.append(address)
            for link in self._leads(self._visit(person, client, address), address):
                if link not in known:
                    known.add(link)
                    waiting.append(link)
        return visited

    def probe(self, person: Person, client: httpx.Client, visited: Iterable[str], turn: int | None = None) -> None:
        """Ask pages about something hidden, and about something that does not exist: they answer alike. Visitors may
        take turns: each asks a third of the pages, and each page is asked by a third of them.
        """
        hidden = self._hidden(person)
        for address in [*self._blank(), *visited]:
            for template in self._templates(address):
                shape = self._shapeless(template)
                key = (person.name, shape)
                anothers = turn is not None and crc32(shape.encode()) % _IN_TURN != turn % _IN_TURN
                if key in self._probed or anothers:
                    continue
                self._probed.add(key)
                for kind in self._some_kinds(hidden):
                    self._ask_both(person, client, template, self.words.rng.choice(hidden[kind]))

    def _ask_both(self, person: Person, client: httpx.Client, template: str, word: str) -> None:
        new = self.words.new()
        one = self._visit(person, client, template.replace("\0", quote(word, safe="")))
        other = self._visit(person, client, template.replace("\0", new))
        hidden_text, missing_text = (_ONCE_ONLY.sub("", text) for text in (one.text, other.text.replace(new, word)))
        if (one.status_code, hidden_text) != (other.status_code, missing_text) and not self._may_know_all_of(
            person, template
        ):
            difference = _first_difference(hidden_text, missing_text)
            self.leaks.append(f"{person.name}: {template!r} of {word} differs from what is not there: {difference}")

    def _visit(self, person: Person, client: httpx.Client, address: str) -> httpx.Response:
        before = self.visible_scope(person)
        answer = client.get(address)
        page = self.templates.match(address)
        self.seen.setdefault(page, Counter())[answer.status_code] += 1
        said = f"{person.name}: {address} -> {answer.status_code}"
        if answer.status_code not in _FINE:
            self.leaks.append(f"{said}: {answer.text[:300]}")
        found = self._words_in(answer) - set(words_in(unquote(address).lower()))
        known = before.words | self.known_words.get(person.name, frozenset())
        if self._may_know_all_of(person, address):
            known |= {*person.tenant.names, *person.tenant.names.values()}
        for word in sorted(found - known):
            at = answer.text.lower().find(word)
            self.leaks.append(f"{said}: told {word}: {answer.text[max(at - 200, 0) : at + 100]}")
        return answer

    def _may_know_all_of(self, person: Person, address: str) -> bool:
        """Whether the page tells everything to this visitor."""
        right = next((right for begin, right in TELL_ALL.items() if address.startswith(begin)), None)
        if right is None:
            return False
        with self.api.platform.access.read(person.tenant.uid) as session:
            try:
                return bool(person.token) and session.check(person.principal, right, person.tenant.uid)
            except NotFoundError:
                return False

    # Addresses

    def _leads(self, answer: httpx.Response, at: str) -> list[str]:
        if "location" in answer.headers:
            return links_in(f'<a href="{answer.headers["location"]}">', at)
        return links_in(answer.text, at) if "html" in answer.headers.get("content-type", "") else []

    def _shape(self, address: str) -> object:
        """What two addresses have in common that are alike but for what they are about."""
        parts = urlsplit(address)
        about = tuple(self._kind(unquote(part)) for part in parts.path.split("/"))
        asked = tuple(sorted((name, self._kind(value, "*")) for name, value in parse_qsl(parts.query)))
        return self.templates.match(address), about, asked

    def _kind(self, word: str, otherwise: str | None = None) -> str:
        """The kind of the thing whose id it is; the word itself if it is none."""
        if not self._kinds:
            self._kinds.update(self._all_kinds())
        return self._kinds.get(word) or (word if otherwise is None else otherwise)

    def _all_kinds(self) -> Iterator[tuple[str, str]]:
        for tenant in self.tenants:
            with self.api.platform.access.read(tenant.uid) as session:
                yield from session.read_view(partial(_kinds_of, tenant))

    # Probing

    def _hidden(self, person: Person) -> dict[str, list[str]]:
        """What the visitor may not see, by kind; of the other tenant too."""
        sight, found = self.visible_scope(person), dict[str, list[str]]()
        for uid in sorted(self._ids() - sight.ids):
            found.setdefault(self._kind(uid), []).append(uid)
        return found

    def _blank(self) -> list[str]:
        """Every page's address, with its places to be filled."""
        return [_PLACE.sub("\0", path) for path in self.templates.all() if "{" in path]

    def _templates(self, address: str) -> Iterator[str]:
        """The address with one id after the other taken out."""
        if "\0" in address:
            yield address
            return
        parts = urlsplit(address)
        pieces = parts.path.split("/")
        for place, piece in enumerate(pieces):
            if unquote(piece) in self._kinds:
                path = "/".join([*pieces[:place], "\0", *pieces[place + 1 :]])
                yield path + (f"?{parts.query}" if parts.query else "")
        asked = parse_qsl(parts.query)
        for place, (name, value) in enumerate(asked):
            if value in self._kinds:
                kept = [*asked[:place], *asked[place + 1 :]]
                yield f"{parts.path}?{urlencode([*kept, (name, '')])}\0"

    def _shapeless(self, template: str) -> str:
        parts = urlsplit(template)
        path = "/".join(self._kind(unquote(piece)) for piece in parts.path.split("/"))
        return f"{path}?{'&'.join(sorted(piece.partition('=')[0] for piece in parts.query.split('&')))}"

    def _some_kinds(self, hidden: dict[str, list[str]]) -> list[str]:
        """One thing, and a member of the other tenant: those of one's own are all seen."""
        things = sorted(kind for kind in hidden if kind != MEMBER)
        return [*([self.words.rng.choice(things)] if things else []), *([MEMBER] if MEMBER in hidden else [])]


def signed_in_person(api: Api, tenant: Tenant, demo: str, name: str = "") -> Person:
    """Return a member who has signed in."""
    platform, member = api.platform, tenant.id(demo)
    with platform.write(Caller(tenant.uid, member)) as ctx:
        made = sign_ins.create(ctx, platform.settings, member, "test", ClientInfo("127.0.0.1", "a test", ""))
    return Person(name or demo, tenant, member, made.secret)


def http_client(person: Person, address: str) -> httpx.Client:
    """Return the HTTP client of a person."""
    cookies = {SESSION_COOKIE: person.token} if person.token else {}
    return httpx.Client(base_url=address, headers={"Accept": "text/html"}, cookies=cookies, timeout=60)


def impersonating(person: Person, client: httpx.Client, demo: str) -> Person:
    """Return the same visitor, impersonating somebody else."""
    member = person.tenant.id(demo)
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/view-as").text)
    assert found
    assert client.post("/view-as", data={"member": member, "csrf_token": found[1]}).status_code == 303
    return replace(person, name=f"{person.name} as {demo}", principal=member)


def _kinds_of(tenant: Tenant, view: FactView) -> list[tuple[str, str]]:
    return [(uid, view.kind(number)) for uid in tenant.names if (number := view.ids.get(uid)) is not None]


def _first_difference(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"…{one[max(at - 80, 0) : at + 120]}… and …{other[max(at - 80, 0) : at + 120]}…"
