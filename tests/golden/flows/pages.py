"""Ann's actions on pages. She uses the button, and sends the form without one too, with a valid token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx

from lakehold.web import urls
from tests.golden.flows.acme import ANN
from tests.golden.flows.markup import Form, Page
from tests.golden.flows.outcomes import DONE, HIDDEN, REFUSED, outcome
from tests.golden.flows.project import FlowProject

SURE = {"confirmed": "1"}
_FRIENDLY = {403: "Access denied", 404: "Page not found"}
_EDITS = {"warehouse": "storage/edit", "orders": "mart/edit", "sheet": "destination/edit", "weekly": "report/edit"}


@dataclass(slots=True)
class Pages:
    """A client on pages. Each method returns the outcome, if it agrees with what the page offered."""

    place: FlowProject
    who: str = ANN
    instead: str = ""
    """What a page may say in place of a reason for each thing that it does not offer."""
    _pages: dict[str, tuple[Page, str]] = field(default_factory=dict, init=False)

    def lists(self, kind: str, name: str) -> bool:
        """Whether it is in the list of its kind."""
        page, said = self.get(urls.workspace(self.place["sales"], kind))
        assert said == DONE, said
        return urls.resource(self.place[name]) in page.links

    def opens(self, name: str) -> str:
        """Look at its page."""
        return self.get(self.at(name))[1]

    def makes_mart(self, name: str, storage: str) -> str:
        """A data mart that draws from a storage, by the button on the page of that."""
        there = urls.workspace(self.place["sales"], "marts/new")
        link = f"{there}?{urlencode({'storage': self.place[storage]})}"
        offered = link in self.get(self.at(storage))[0].links
        form = self.get(link)[0].form(there) if offered else None
        fields = {"name": name, "storage": self.place[storage], "by": "table", "table": "public.orders", "do": "save"}
        return self.submit(there, form, fields, offered=offered)

    def makes_report(self, name: str, mart: str, destination: str) -> str:
        """A report on a mart, by the button on the page of that; its form offers the destination."""
        there = urls.workspace(self.place["sales"], "reports/new")
        link = f"{there}?{urlencode({'mart': self.place[mart]})}"
        linked = link in self.get(self.at(mart, "reports"))[0].links
        form = self.get(link)[0].form(there) if linked else None
        offered = form is not None and self.place[destination] in form.options["destination"]
        fields = {"name": name, "mart": self.place[mart], "destination": self.place[destination], "do": "save"}
        return self.submit(there, form, fields, offered=offered)

    def edits(self, name: str, description: str) -> str:
        """Describe it in other words, in its form."""
        return self._fills(name, description=description)

    def sends_to(self, name: str, destination: str) -> str:
        """Send it elsewhere, in its form."""
        return self._fills(name, destination=self.place[destination])

    def _fills(self, name: str, **values: str) -> str:
        """Its form, with something else in it."""
        there = self.at(name, _EDITS[name])
        page, seen = self.get(self.at(name))
        offered = there in page.links
        opened, said = self.get(there)
        if offered != (said == DONE):
            return f"the form is {said}, though {_offer_text(offered)}"
        fields = {**values, "do": "save"}
        return self.submit(there, opened.form(there), fields, offered=offered, why=self._why(page, seen, "Edit"))

    def copies(self, name: str) -> tuple[str, dict[str, str]]:
        """Its credentials, shown once."""
        there = self.at(name, "credentials/copy")
        page, seen = self.get(self.at(name))
        answer = self.post(there, page.form(there), SURE)
        why = self._why(page, seen, "Copy credentials")
        outcome_text = self.check_offer(self.read_outcome(answer), offered=page.form(there) is not None, why=why)
        secret_page = (
            self.call("GET", answer.headers["location"]).text if answer.status_code == httpx.codes.SEE_OTHER else ""
        )
        kept = self.place.secrets(name)
        return outcome_text, kept if secret_page and all(secret in secret_page for secret in kept.values()) else {}

    def shares(self, name: str, toggles: Mapping[str, bool], contexts: Sequence[str]) -> str:
        """Switch toggles and put it into these contexts, in the one form of its access page."""
        there = self.at(name, "access/settings")
        form = self.get(self.at(name, "access"))[0].form(there)
        fields: dict[str, Any] = {toggle: ["true"] if on else [] for toggle, on in toggles.items()}
        fields["contexts"] = [self.place[each] for each in contexts]
        offered = form is not None and form.open >= fields.keys()
        return self.submit(there, form, {**fields, "shown": list(fields)}, offered=offered)

    def gives(self, name: str, role: str, whom: str) -> str:
        """Let somebody own it too."""
        there = self.at(name, "access/give")
        page, seen = self.get(self.at(name, "access"))
        why = self._why(page, seen, "Grant access")
        return self.submit(there, None, {"subject": whom, "role": role}, offered=there in page.links, why=why)

    def takes(self, name: str, role: str, whom: str) -> str:
        """Let somebody no longer own it."""
        there = self.at(name, "access/revoke")
        page, _ = self.get(self.at(name, "access"))
        fields = {"subject": whom, "role": role}
        offered = any(form.action == there and {*fields.items()} <= {*form.fields} for form in page.forms)
        return self.submit(there, None, fields, offered=offered)

    def deletes(self, name: str) -> str:
        """End it."""
        return self._presses(name, "delete", "Delete")

    def restores(self, name: str) -> str:
        """Bring it back, now that it is deleted: from its page, or from that of the report that goes there."""
        self._pages.clear()
        there = self.at(name, "restore")
        forms = (self.get(self.at(each))[0].form(there) for each in (name, "weekly"))
        form = next((form for form in forms if form), None)
        return self.submit(there, form, {}, offered=form is not None)

    def sees_trigger(self, name: str, trigger: str) -> str:
        """It is on the page of triggers."""
        page, said = self.get(self.at(name, "triggers"))
        there = trigger in page.text
        return said if there == (said == DONE) else f"{said}, {'' if there else 'not '}on the page"

    def schedules(self, name: str) -> str:
        """One more trigger."""
        there = self.at(name, "triggers")
        form = self.get(there)[0].form(there)
        fields = {"by": "cron", "every": "own", "cron": "0 5 * * *", "zone": "UTC", "do": "save"}
        return self.submit(there, form, fields, offered=form is not None)

    def reschedules(self, name: str, trigger: str) -> str:
        """A trigger at another time."""
        here, there = self.at(name, "triggers"), self.at(name, "triggers/change")
        change = f"{here}?change={trigger}"
        page, seen = self.get(here)
        offered = change in page.links
        form = self.get(change)[0].form(there)
        fields = {"trigger": trigger, "every": "own", "cron": "0 6 * * *", "zone": "UTC", "do": "save"}
        return self.submit(there, form, fields, offered=offered, why=self._why(page, seen, "Edit"))

    def unschedules(self, name: str, trigger: str) -> str:
        """A trigger less."""
        there = self.at(name, "triggers/remove")
        page, seen = self.get(self.at(name, "triggers"))
        offered = any(form.action == there and ("trigger", trigger) in form.fields for form in page.forms)
        return self.submit(there, None, {"trigger": trigger}, offered=offered, why=self._why(page, seen, "Remove"))

    def runs(self, name: str) -> str:
        """Now."""
        return self._presses(name, "pipeline/run", "Run now")

    def sees_run(self, name: str, run: str) -> str:
        """A run by itself; it has to be among those of what is run too."""
        page, listed = self.get(self.at(name, "runs"))
        alone = self.get(urls.run(run))[1]
        there = urls.run(run) in page.links
        return alone if there == (alone == listed == DONE) else f"{alone}, {'' if there else 'not '}in the list"

    def stops(self, run: str) -> str:
        """A run."""
        return self._presses_at(urls.run(run), urls.run(run, "stop"), "Stop")

    def deletes_run(self, run: str) -> str:
        """A run and all that it said."""
        self._pages.clear()
        return self._presses_at(urls.run(run), urls.run(run, "delete"), "Delete")

    def _presses(self, name: str, part: str, label: str = "") -> str:
        """A button on the page of a thing."""
        return self._presses_at(self.at(name), self.at(name, part), label)

    def _presses_at(self, here: str, there: str, label: str) -> str:
        page, seen = self.get(here)
        form = page.form(there)
        return self.submit(there, form, {}, offered=form is not None, why=self._why(page, seen, label))

    def submit(
        self, there: str, form: Form | None, fields: dict[str, Any], *, offered: bool, why: str | None = None
    ) -> str:
        answer = self.post(there, form, {**fields, **SURE})
        return self.check_offer(self.read_outcome(answer), offered=offered, why=why)

    @staticmethod
    def check_offer(said: str, *, offered: bool, why: str | None = None) -> str:
        """How it came out, if what was offered agrees with it and a reason was given for what was not."""
        if offered != (said == DONE):
            return f"{said}, though {_offer_text(offered)}"
        return f"{said}, without a reason" if said == REFUSED and why == "" else said

    def post(self, there: str, form: Form | None, fields: dict[str, Any]) -> httpx.Response:
        sent = {**(form.filled() if form else {}), "csrf_token": self.place.acme.csrf(self.who), **fields}
        return self.call("POST", there, data=sent)

    def get(self, path: str) -> tuple[Page, str]:
        """A page, as it was when it was first looked at: what is done later goes by what was offered then."""
        if path not in self._pages:
            answer = self.call("GET", path, follow_redirects=True)
            said = self.read_outcome(answer)
            self._pages[path] = Page(answer.text if said == DONE else ""), said
        return self._pages[path]

    def read_outcome(self, answer: httpx.Response) -> str:
        """How it came out. A refusal is a page in words that people read; of a form it may be the form with why."""
        words = _FRIENDLY.get(answer.status_code, "")
        if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
            return (
                HIDDEN
                if "There is no resource" in answer.text
                else REFUSED
                if "You may not" in answer.text
                else outcome(answer)
            )
        return outcome(answer) if words in answer.text else f"{answer.status_code} without its words: {answer.text}"

    def _why(self, page: Page, seen: str, label: str) -> str | None:
        """The reason that a page gives for what it does not offer; None where it need not give one."""
        if self.instead and self.instead in page.text:
            return self.instead
        return page.refused.get(label, "") if seen == DONE and label else None

    def at(self, name: str, part: str = "") -> str:
        return urls.resource(self.place[name], part)

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401 - as the client
        return self.place.acme.browse(self.who, method, path, **more)


def _offer_text(offered: bool) -> str:
    return "offered" if offered else "not offered"
