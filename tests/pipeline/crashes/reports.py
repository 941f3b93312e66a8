"""Reports that speak to people: by mail, to an address and in a chat."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pyspark.sql import SparkSession

from lakehold.catalog import credentials, resources
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from tests.pipeline.crashes.into_tables import NEW
from tests.pipeline.crashes.world import World
from tests.pipeline.shop import ED
from tests.workspaces.marts.project import LAKE

MART = "words_mart"
_PIECE = "X-Piece"
_RECEIVER = "ann@x.test"


def filled(world: World, spark: SparkSession) -> None:
    """A data mart with rows in it, which no refresh has to bring."""
    shop = world.here.shop
    with shop.platform.write(ED) as ctx:
        edges = {"project": "sales", "storage": LAKE}
        settings = {"by": "table", "table": "raw.news", "published": True}
        resources.create(ctx, "marts.data_mart", MART, uid=MART, edges=edges, settings=settings)
    rows = spark.createDataFrame(NEW, "id long, word string").coalesce(1)
    write_rows(shop.tables, shop.place(MART), rows, TableWriteOptions(WriteMode.OVERWRITE, "first"))


@dataclass(frozen=True)
class Report:
    """One, to a destination of its own."""

    to: str
    point: str

    @property
    def uid(self) -> str:
        return "_".join(("report", self.to, *self.point.split()))

    @property
    def after(self) -> object:
        return 1

    def make(self, world: World) -> None:
        told, secrets = self._destination(world)
        with world.here.shop.platform.write(ED) as ctx:
            to = resources.create(
                ctx, "marts.destination", self.uid, uid=f"{self.uid}_to", edges={"project": "sales"}, settings=told
            )
            if secrets:
                credentials.save(ctx, to, dict(secrets))
            edges = {"data_mart": MART, "destination": to}
            settings = {"message": f"{self.uid}: {{{{ rows }}}} rows"}
            resources.create(ctx, "marts.report", self.uid, uid=self.uid, edges=edges, settings=settings)

    def _destination(self, world: World) -> tuple[dict[str, object], dict[str, str]]:
        match self.to:
            case "mail":
                return {"to": "mail", "receivers": [_RECEIVER], "subject": self.uid, "kind": "csv"}, {}
            case "webhook":
                return {"to": "webhook", "address": world.hook.url, "headers": {_PIECE: self.uid}}, {}
            case _:
                return {"to": "chat"}, {"address": world.hook.url}

    def came(self, world: World) -> list[tuple[str, str]]:
        """All that has come, each with the key by which a receiver tells doubles."""
        if self.to == "mail":
            mine = [mail for mail in world.taken() if self.uid in str(mail["Subject"])]
            return [(str(mail["Message-ID"]), str(mail.get_body(("plain",)))) for mail in mine]
        found = [(str(each.headers["Idempotency-Key"]), each) for each in world.hook.came]
        if self.to == "webhook":
            return [(key, each.body.decode()) for key, each in found if each.headers[_PIECE] == self.uid]
        return [(key, each.body.decode()) for key, each in found if self._said(each.body)]

    def seen(self, world: World) -> object:
        """How much a receiver has that tells doubles by their key."""
        return len({key for key, _ in self.came(world)})

    def between(self, seen: object) -> bool:
        return seen == 1

    def left(self, world: World) -> list[str]:
        """Doubles that came in two shapes."""
        texts = {text for _, text in self.came(world)}
        return sorted(texts)[1:]

    def _said(self, body: bytes) -> bool:
        return str(json.loads(body).get("text", "")) == f"{self.uid}: 2 rows"
