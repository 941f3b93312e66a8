"""Ann's actions over REST."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.golden.flows.acme import ANN
from tests.golden.flows.outcomes import combined_outcome, outcome
from tests.golden.flows.project import FlowProject

ANY = {"If-Match": "*"}


@dataclass(frozen=True, slots=True)
class Rest:
    """A client over REST. Each method returns the outcome."""

    place: FlowProject
    who: str = ANN

    def lists(self, kind: str, name: str) -> bool:
        """Whether it is in the list of its kind."""
        params = {"kind": f"marts.{kind}", "within": self.place["sales"]}
        answer = self.call("GET", "resources", params=params)
        assert answer.status_code == 200, answer.text
        return self.place[name] in {item["id"] for item in answer.json()["items"]}

    def opens(self, name: str) -> str:
        """Look at it."""
        return outcome(self.call("GET", self.at(name)))

    def makes_mart(self, name: str, storage: str) -> str:
        """A data mart that draws from a storage."""
        settings = {"by": "table", "table": "public.orders"}
        return self._makes("data_mart", name, settings, project="sales", storage=storage)

    def makes_report(self, name: str, mart: str, destination: str) -> str:
        """A report on a mart, to a destination."""
        return self._makes("report", name, {}, data_mart=mart, destination=destination)

    def edits(self, name: str, description: str) -> str:
        """Describe it in other words."""
        return outcome(self.call("PATCH", self.at(name), json={"description": description}, headers=ANY))

    def sends_to(self, name: str, destination: str) -> str:
        """Send it elsewhere."""
        edges = {"destination": [self.place[destination]]}
        return outcome(self.call("PATCH", self.at(name), json={"edges": edges}, headers=ANY))

    def copies(self, name: str) -> tuple[str, dict[str, str]]:
        """Its credentials."""
        answer = self.call("POST", self.at(name, "credentials/copy"))
        return outcome(answer), answer.json().get("credentials", {})

    def shares(self, name: str, toggles: Mapping[str, bool], contexts: Sequence[str]) -> str:
        """Switch each toggle, and put it into these contexts, one after the other."""
        changes = [{"attributes": {toggle: on}} for toggle, on in toggles.items()]
        edges = {"edges": {"contexts": [self.place[each] for each in contexts]}}
        tried = (*changes, edges)
        return combined_outcome(*(outcome(self.call("PATCH", self.at(name), json=each, headers=ANY)) for each in tried))

    def gives(self, name: str, role: str, whom: str) -> str:
        """Let somebody own it too."""
        return outcome(self.call("POST", self.at(name, "grants"), json={"subject": whom, "role": role}))

    def takes(self, name: str, role: str, whom: str) -> str:
        """Let somebody no longer own it."""
        return outcome(self.call("DELETE", self.at(name, "grants"), params={"subject": whom, "role": role}))

    def deletes(self, name: str) -> str:
        """End it."""
        return outcome(self.call("DELETE", self.at(name)))

    def restores(self, name: str) -> str:
        """Bring it back."""
        return outcome(self.call("POST", self.at(name, "restore")))

    def sees_trigger(self, name: str, trigger: str) -> str:
        """A trigger by itself; it has to be among those of what it runs too."""
        alone = self.call("GET", f"triggers/{trigger}")
        listed = self.call("GET", "triggers", params={"resource": self.place[name]})
        there = trigger in {each["id"] for each in listed.json().get("items", [])}
        said = outcome(alone)
        return said if there == (said == "done") else f"{said}, {'' if there else 'not '}in the list"

    def schedules(self, name: str) -> str:
        """One more trigger."""
        return outcome(self.call("POST", "triggers", json={"resource": self.place[name], "cron": "0 5 * * *"}))

    def reschedules(self, name: str, trigger: str) -> str:
        """A trigger at another time."""
        del name
        return outcome(self.call("PUT", f"triggers/{trigger}", json={"cron": "0 6 * * *"}))

    def unschedules(self, name: str, trigger: str) -> str:
        """A trigger less."""
        del name
        return outcome(self.call("DELETE", f"triggers/{trigger}"))

    def runs(self, name: str) -> str:
        """Now."""
        return outcome(self.call("POST", "runs", json={"resource": self.place[name]}))

    def sees_run(self, name: str, run: str) -> str:
        """A run by itself; it has to be among those of what is run too."""
        alone = outcome(self.call("GET", f"runs/{run}"))
        listed = self.call("GET", "runs", params={"resource": self.place[name]})
        there = run in {each["id"] for each in listed.json().get("items", [])}
        return alone if there == (alone == "done") else f"{alone}, {'' if there else 'not '}in the list"

    def stops(self, run: str) -> str:
        """A run."""
        return outcome(self.call("POST", f"runs/{run}/stop"))

    def deletes_run(self, run: str) -> str:
        """A run and all that it said."""
        return outcome(self.call("DELETE", f"runs/{run}"))

    def _makes(self, kind: str, name: str, settings: dict[str, Any], **edges: str) -> str:
        ends = {edge: [self.place[end]] for edge, end in edges.items()}
        body = {"kind": f"marts.{kind}", "name": name, "edges": ends, "settings": settings}
        return outcome(self.call("POST", "resources", json=body))

    def at(self, name: str, part: str = "") -> str:
        return f"resources/{self.place[name]}" + (f"/{part}" if part else "")

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401 - as the client
        return self.place.acme.api.call(method, f"/api/v1/{path}", self.who, **more)
