"""Actions on members and on the project itself, over REST and on pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from lakehold.web import urls
from tests.golden.flows.acme import GUEST
from tests.golden.flows.markup import Page
from tests.golden.flows.outcomes import DONE, outcome
from tests.golden.flows.pages import Pages
from tests.golden.flows.project import FlowProject
from tests.golden.flows.rest import ANY, Rest

PASSWORD = "nine purple elephants"
_SECRET = re.compile(r"lhi_\w+")


class RestPeople(Rest):
    """Over REST."""

    def invites(self, role: str, scope: str = "", contexts: Sequence[str] = ()) -> tuple[str, str]:
        """Somebody new, with a role, a scope and contexts; and what their link carries."""
        roles = [{"role": role, "resource": self.place["sales"]}]
        roles += [{"role": "holder", "resource": self.place[context]} for context in contexts]
        settings = [{"resource": self.place["sales"], "name": "scope", "value": scope}] if scope else []
        body = {"email": _address(self.place), "roles": roles, "settings": settings}
        answer = self.call("POST", "invites", json=body)
        return outcome(answer), _secret_in(answer)

    def accepts(self, secret: str) -> str:
        """Somebody new comes; as whom they act."""
        body = {"secret": secret, "name": "Nora", "password": PASSWORD}
        answer = self.place.acme.api.post("/api/v1/invites/by-link", json=body)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        member: str = answer.json()["member"]
        return member

    def appoints(self, member: str, role: str, scope: str) -> str:
        """Another role and scope for somebody."""
        body = {"subject": member, "roles": [role], "attributes": {"scope": scope}}
        return outcome(self.call("PUT", f"workspaces/{self.place['sales']}/members", json=body))

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
        fields = {"workspace": self.place["sales"], "email": _address(self.place), "role": role, "label": labels}
        if scope:
            fields["value_scope"] = scope
        offered = form is not None and role in form.options["role"] and {*labels} <= {*form.options.get("label", ())}
        offered = offered and (not scope or scope in (form.options.get("value_scope", ()) if form else ()))
        answer = self.post(there, form, fields)
        said = self.check_offer(self.read_outcome(answer), offered=offered)
        return said, _secret_in(self.call("GET", answer.headers["location"])) if said == DONE else ""

    def accepts(self, secret: str) -> str:
        """Somebody new comes; as whom they act."""
        acme, guest, there = self.place.acme, f"{GUEST} {self.place.number}", f"/invite/{secret}"
        form = Page(acme.browse(guest, "GET", there).text).form(there)
        assert form is not None
        answer = acme.browse(guest, "POST", there, data=form.filled(name="Nora", password=PASSWORD))
        assert answer.status_code == httpx.codes.SEE_OTHER, answer.text
        return guest

    def appoints(self, member: str, role: str, scope: str) -> str:
        """Another role and scope for somebody."""
        here, there = self._members(), f"{self._members()}/change"
        link = f"{there}?subject={member}"
        fields = {"subject": member, "role": role, "value_scope": scope}
        return self.submit(link, None, fields, offered=link in self.get(here)[0].links)

    def removes(self, member: str, receiver: str = "") -> str:
        """Somebody from the project."""
        there = f"{self._members()}/remove"
        forms = self.get(self._members())[0].forms
        offered = any(form.action == there and ("subject", member) in form.fields for form in forms)
        return self.submit(there, None, {"subject": member, "receiver": receiver}, offered=offered)

    def switches(self, setting: str, *, on: bool) -> str:
        """A setting of the project."""
        here = urls.workspace(self.place["sales"], "settings")
        there = f"{here}/switches"
        form = self.get(here)[0].form(there)
        fields = {f"switch_{setting}": ["true"] if on else []}
        offered = form is not None and f"switch_{setting}" in form.open
        return self.submit(there, form, fields, offered=offered)

    def _members(self) -> str:
        return urls.workspace(self.place["sales"], "members")


def _address(place: FlowProject) -> str:
    return f"nora{place.number}@acme.test"


def _secret_in(answer: httpx.Response) -> str:
    found = _SECRET.search(answer.text)
    return found[0] if found else ""
