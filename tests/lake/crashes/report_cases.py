"""Reports that are delivered to people: by mail, by webhook and in a chat."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lakehold.catalog import credentials, resources
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from tests.lake.crashes.environment import CrashEnvironment
from tests.lake.crashes.table_cases import NEW
from tests.lake.shop import ED
from tests.workspaces.marts.project import LAKE

MART = "words_mart"
_PIECE = "X-Piece"
_RECEIVER = "ann@x.test"


def create_filled_mart(world: CrashEnvironment, spark: SparkSession) -> None:
    """Create a data mart with rows, which no refresh has to bring."""
    shop = world.here.shop
    with shop.platform.write(ED) as ctx:
        edges = {"project": "sales", "storage": LAKE}
        settings = {"by": "table", "table": "raw.news"}
        managed = {"published": True}
        resources.create(ctx, "marts.data_mart", MART, uid=MART, edges=edges, settings=settings, managed=managed)
    rows = spark.createDataFrame(NEW, "id long, word string").coalesce(1)
    write_rows(shop.tables, shop.place(MART), rows, TableWriteOptions(WriteMode.OVERWRITE, "first"))


@dataclass(frozen=True)
class ReportCase:
    """A report to a destination of its own."""

    to: str
    point: str

    @property
    def uid(self) -> str:
        return "_".join(("report", self.to, *self.point.split()))

    @property
    def after(self) -> object:
        return 1

    def make(self, world: CrashEnvironment) -> None:
        destination_settings, secrets = self._destination(world)
        with world.here.shop.platform.write(ED) as ctx:
            to = resources.create(
                ctx,
                "marts.destination",
                self.uid,
                uid=f"{self.uid}_to",
                edges={"project": "sales"},
                settings=destination_settings,
            )
            if secrets:
                credentials.save(ctx, to, dict(secrets))
            edges = {"data_mart": MART, "destination": to}
            settings = {"message": f"{self.uid}: {{{{ rows }}}} rows"}
            resources.create(ctx, "marts.report", self.uid, uid=self.uid, edges=edges, settings=settings)

    def _destination(self, world: CrashEnvironment) -> tuple[dict[str, object], dict[str, str]]:
        match self.to:
            case "mail":
                return {"to": "mail", "receivers": [_RECEIVER], "subject": self.uid, "kind": "csv"}, {}
            case "webhook":
                return {"to": "webhook", "address": world.hook.url, "headers": {_PIECE: self.uid}}, {}
            case _:
                return {"to": "chat"}, {"address": world.hook.url}

    def deliveries(self, world: CrashEnvironment) -> list[tuple[str, str]]:
        """All that has come, each with the key by which a receiver tells doubles."""
        if self.to == "mail":
            mine = [mail for mail in world.accepted_mails() if self.uid in str(mail["Subject"])]
            return [(str(mail["Message-ID"]), str(mail.get_body(("plain",)))) for mail in mine]
        found = [(str(each.headers["Idempotency-Key"]), each) for each in world.hook.requests]
        if self.to == "webhook":
            return [(key, each.body.decode()) for key, each in found if each.headers[_PIECE] == self.uid]
        return [(key, each.body.decode()) for key, each in found if self._is_own_message(each.body)]

    def seen(self, world: CrashEnvironment) -> object:
        """How much a receiver has that tells doubles by their key."""
        return len({key for key, _ in self.deliveries(world)})

    def between(self, seen: object) -> bool:
        return seen == 1

    def left(self, world: CrashEnvironment) -> list[str]:
        """Doubles that came in two shapes."""
        texts = {text for _, text in self.deliveries(world)}
        return sorted(texts)[1:]

    def _is_own_message(self, body: bytes) -> bool:
        return str(json.loads(body).get("text", "")) == f"{self.uid}: 2 rows"
