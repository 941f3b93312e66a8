"""Actions in a data space over REST. Each returns its outcome, if it agrees with what is there afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.golden.flows.acme import BOB
from tests.golden.flows.outcomes import DONE, HIDDEN, REFUSED, combined_outcome, confirmed_outcome, outcome
from tests.golden.flows.space import FlowSpace

ANY = {"If-Match": "*"}
FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class SpaceRest:
    """A client over REST, as who sits in the seat."""

    place: FlowSpace

    def lists(self, kind: str, name: str) -> str:
        """It is in the list of its kind, with its description, and can be looked at."""
        params = {"kind": f"spaces.{kind}", "within": self.place["sales"]}
        found = self.call("GET", "resources", params=params)
        there = found.status_code == httpx.codes.OK and self.place[name] in {
            each["id"] for each in found.json()["items"]
        }
        return confirmed_outcome(outcome(self.call("GET", self.at(name))), happened=there)

    def sees_space(self) -> str:
        """It is among the workspaces."""
        found = self.call("GET", "workspaces", params={"model": "spaces", "limit": 200}).json()["items"]
        there = self.place["sales"] in {each["id"] for each in found}
        return confirmed_outcome(outcome(self.call("GET", self.at("sales"))), happened=there)

    def opens(self, name: str) -> str:
        """Its settings and its runs."""
        found = self.call("GET", self.at(name))
        if outcome(found) == HIDDEN:
            return HIDDEN
        settings = DONE if found.json()["settings"] is not None else REFUSED
        return combined_outcome(settings, outcome(self.call("GET", "runs", params={"resource": self.place[name]})))

    def creates(self, kind: str, parent: Mapping[str, str], settings: Mapping[str, object]) -> str:
        """One more of a kind, which is removed again."""
        edges = {edge: [self.place[end]] for edge, end in parent.items()}
        body = {"kind": f"spaces.{kind}", "name": FRESH, "edges": edges, "settings": settings}
        said = outcome(self.call("POST", "resources", json=body))
        return confirmed_outcome(said, happened=self.place.clear(kind, FRESH))

    def renames(self, name: str) -> str:
        """Another name, and then another description."""
        before = self.place.load(name).name
        said = [
            self.changes(name, name="Otherwise"),
            self.changes(name, description="In other words."),
        ]
        now = self.place.load(name)
        happened = (now.name, now.description) == ("Otherwise", "In other words.")
        if happened:
            self.changes(name, name=before)
        return confirmed_outcome(combined_outcome(*said), happened=happened)

    def sets(self, name: str, settings: Mapping[str, object]) -> str:
        """Other settings."""
        before = self.place.load(name).version
        said = self.changes(name, settings=settings)
        return confirmed_outcome(said, happened=self.place.load(name).version != before)

    def changes(self, name: str, /, **body: object) -> str:
        """Some of it."""
        return outcome(self.call("PATCH", self.at(name), json=body, headers=ANY))

    def adds_member(self, role: str) -> str:
        """Bob, in this role, who is removed again."""
        path = f"workspaces/{self.place['sales']}/members"
        gives = outcome(self.call("PUT", path, json={"subject": BOB, "roles": [role]}))
        given = self.place.holds(BOB, role)
        if not given:
            self.place.give(BOB, role)
        takes = outcome(self.call("DELETE", path, params={"subject": BOB}))
        taken = not self.place.holds(BOB, role)
        if not taken:
            self.place.take(BOB, role)
        gives, takes = confirmed_outcome(gives, happened=given), confirmed_outcome(takes, happened=taken)
        return combined_outcome(gives, takes)

    def runs(self, name: str, *, reload: bool = False) -> str:
        """Now."""
        by = self.place.owner("sales")
        before = self.place.runs(name, by)
        said = outcome(self.call("POST", "runs", json={"resource": self.place[name], "reload": reload}))
        return confirmed_outcome(said, happened=len(self.place.runs(name, by) - before) == 1)

    def stops(self, name: str) -> str:
        """A run of somebody else."""
        run = self.place.start(name)
        said = self._of_run(name, run, "stop")
        return confirmed_outcome(said, happened=self.place.state(run) == "stopped")

    def resumes(self, name: str) -> str:
        """A run that was stopped."""
        run = self.place.start(name, stopped=True)
        said = self._of_run(name, run, "resume")
        return confirmed_outcome(said, happened=self.place.state(run) == "queued")

    def _of_run(self, name: str, run: str, action: str) -> str:
        """Runs are hidden from those who may not open what they run: to them, this is to refuse it."""
        said = outcome(self.call("POST", f"runs/{run}/{action}"))
        runs = outcome(self.call("GET", "runs", params={"resource": self.place[name]}))
        return REFUSED if (said, runs) == (HIDDEN, REFUSED) else said

    def deletes(self, name: str) -> str:
        """End it."""
        said = outcome(self.call("DELETE", self.at(name)))
        return confirmed_outcome(said, happened=self.place.is_gone(name))

    def transfers(self, name: str) -> str:
        """Make Bob its owner; it gets its own back."""
        before = self.place.owner(name)
        said = outcome(self.call("POST", self.at(name, "transfer"), json={"role": "owner", "to": BOB}))
        happened = self.place.owner(name) == BOB
        if happened:
            self.place.give(before, "owner", name)
        return confirmed_outcome(said, happened=happened)

    def moves(self, name: str, space: str) -> str:
        """To another space."""
        said = outcome(self.call("POST", self.at(name, "move"), json={"to": space}, headers=ANY))
        parent = self.place.load(name).parent
        return confirmed_outcome(said, happened=parent is not None and parent.uid == space)

    def creates_space(self) -> str:
        """A data space, which is removed again."""
        answer = self.call("POST", "workspaces", json={"model": "spaces", "name": FRESH})
        if outcome(answer) != DONE:
            return outcome(answer)
        owners = [each["id"] for each in answer.json()["owners"]["owner"]]
        self.place.end(answer.json()["id"])
        return confirmed_outcome(DONE, happened=owners == [self.place.seat.who])

    def at(self, name: str, part: str = "") -> str:
        return f"resources/{self.place[name]}" + (f"/{part}" if part else "")

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:  # noqa: ANN401 - as the client
        return self.place.acme.api.call(method, f"/api/v1/{path}", self.place.seat.who, **more)
