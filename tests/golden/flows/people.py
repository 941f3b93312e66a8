"""What is done with people and with the project itself, over REST and on pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from lakehold.web import urls
from tests.golden.flows.markup import Page
from tests.golden.flows.outcomes import DONE, outcome
from tests.golden.flows.pages import Pages
from tests.golden.flows.place import Place
from tests.golden.flows.rest import ANY, Rest
from tests.golden.flows.town import GUEST

PASSWORD = "nine purple elephants"
_SECRET = re.compile(r"lhi_\w+")


class RestPeople(Rest):
    """Over REST."""

    def invites(self, role: str, scope: str = "", contexts: Sequence[str] = ()) -> tuple[str, str]:
        """Somebody new, with a role, a scope and contexts; and what their link carries."""
        roles = [{"role": role, "resource": self.place["sales"]}]
        roles += [{"role": "holder", "resource": self.place[context]} for context in contexts]
        settings = [{"resource": self.place["sales"], "name": "scope", "value": scope}] if scope else []
        told = {"email": _address(self.place), "roles": roles, "settings": settings}
        answer = self.call("POST", "invites", json=told)
        return outcome(answer), _secret_in(answer)

    def accepts(self, secret: str) -> str:
        """Somebody new comes; as whom they act."""
        told = {"secret": secret, "name": "Nora", "password": PASSWORD}
        answer = self.place.town.api.post("/api/v1/invites/by-link", json=told)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        member: str = answer.json()["member"]
        return member

    def appoints(self, member: str, role: str, scope: str) -> str:
        """Another role and scope for somebody."""
        told = {"subject": member, "roles": [role], "attributes": {"scope": scope}}
        return outcome(self.call("PUT", f"workspaces/{self.place['sales']}/members", json=told))

    def removes(self, member: str, receiver: str = "") -> str:
        """Somebody from the project."""
        asked = {"subject": member, **({"receiver": receiver} if receiver else {})}
        return outcome(self.call("DELETE", f"workspaces/{self.place['sales']}/members", params=asked))

    def switches(self, setting: str, *, on: bool) -> str:
        """A setting of the project."""
        return outcome(self.call("PATCH", self.at("sales"), json={"attributes": {setting: on}}, headers=ANY))


class PagesPeople(Pages):
    """On pages."""

    def invites(self, role: str, scope: str = "", contexts: Sequence[str] = ()) -> tuple[str, str]:
        """Somebody new, with a role, a scope and contexts; and what their link carries."""
        there = "/invites/new"
        form = self.get(f"{there}?workspace={self.place['sales']}")[0].form(there)
        labels = [f"holder {self.place[context]}" for context in contexts]
        told = {"workspace": self.place["sales"], "email": _address(self.place), "role": role, "label": labels}
        if scope:
            told["value_scope"] = scope
        offered = form is not None and role in form.options["role"] and {*labels} <= {*form.options.get("label", ())}
        offered = offered and (not scope or scope in (form.options.get("value_scope", ()) if form else ()))
        answer = self.post(there, form, told)
        said = self.agreed(self.told(answer), offered=offered)
        return said, _secret_in(self.call("GET", answer.headers["location"])) if said == DONE else ""

    def accepts(self, secret: str) -> str:
        """Somebody new comes; as whom they act."""
        town, guest, there = self.place.town, f"{GUEST} {self.place.number}", f"/invite/{secret}"
        form = Page(town.browse(guest, "GET", there).text).form(there)
        assert form is not None
        answer = town.browse(guest, "POST", there, data=form.filled(name="Nora", password=PASSWORD))
        assert answer.status_code == httpx.codes.SEE_OTHER, answer.text
        return guest

    def appoints(self, member: str, role: str, scope: str) -> str:
        """Another role and scope for somebody."""
        here, there = self._members(), f"{self._members()}/change"
        link = f"{there}?subject={member}"
        told = {"subject": member, "role": role, "value_scope": scope}
        return self.sent(link, None, told, offered=link in self.get(here)[0].links)

    def removes(self, member: str, receiver: str = "") -> str:
        """Somebody from the project."""
        there = f"{self._members()}/remove"
        forms = self.get(self._members())[0].forms
        offered = any(form.action == there and ("subject", member) in form.fields for form in forms)
        return self.sent(there, None, {"subject": member, "receiver": receiver}, offered=offered)

    def switches(self, setting: str, *, on: bool) -> str:
        """A setting of the project."""
        here = urls.workspace(self.place["sales"], "settings")
        there = f"{here}/switches"
        form = self.get(here)[0].form(there)
        told = {f"switch_{setting}": ["true"] if on else []}
        offered = form is not None and f"switch_{setting}" in form.open
        return self.sent(there, form, told, offered=offered)

    def _members(self) -> str:
        return urls.workspace(self.place["sales"], "members")


def _address(place: Place) -> str:
    return f"nora{place.number}@acme.test"


def _secret_in(answer: httpx.Response) -> str:
    found = _SECRET.search(answer.text)
    return found[0] if found else ""
