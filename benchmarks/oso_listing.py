"""oso's data filtering: a Polar policy as SQL, through its own SQLAlchemy adapter, on indexed tables of its own.

One rule with two alternatives would lose rows: the adapter joins all tables of all alternatives, so that a table on
which nobody holds anything vanishes even if its layer is open. Here each alternative is a query, and SQL unites them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from oso import Oso, Relation
from polar.data.adapter.sqlalchemy_adapter import SqlAlchemyAdapter
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from benchmarks.facts import ALL, TABLES_IN_LAYER, Facts

_POLAR = """
allow(member: Member, "see by table", table: OsoTable) if
  subject in member.subjects and grant in table.grants and grant.subject = subject;
allow(member: Member, "see by layer", table: OsoTable) if
  subject in member.subjects and layer = table.layer and grant in layer.grants and grant.subject = subject;
"""


class _Base(DeclarativeBase):
    pass


class OsoLayer(_Base):
    """A container of tables."""

    __tablename__ = "oso_layer"
    id: Mapped[int] = mapped_column(primary_key=True)


class OsoTable(_Base):
    """What is listed."""

    __tablename__ = "oso_table"
    id: Mapped[int] = mapped_column(primary_key=True)
    uid: Mapped[str]
    name: Mapped[str] = mapped_column(index=True)
    layer_id: Mapped[int] = mapped_column(index=True)


class TableGrant(_Base):
    """Any role on a table: each of them lets one see it."""

    __tablename__ = "oso_table_grant"
    __table_args__ = (sa.Index("oso_1", "subject", "table_id"), sa.Index("oso_2", "table_id", "subject"))
    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str]
    table_id: Mapped[int]


class LayerGrant(_Base):
    """Any role on a layer."""

    __tablename__ = "oso_layer_grant"
    __table_args__ = (sa.Index("oso_3", "subject", "layer_id"), sa.Index("oso_4", "layer_id", "subject"))
    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str]
    layer_id: Mapped[int]


class Member:
    """Who asks."""

    def __init__(self, subjects: list[str]) -> None:
        self.subjects = subjects


class OsoListing:
    """Answers as ids (`t00042`), sorted by name where it is a page."""

    def __init__(self, url: str, facts: Facts) -> None:
        engine = sa.create_engine(url)
        _Base.metadata.create_all(engine)
        with engine.begin() as connection:
            for table, rows in _rows(facts):
                connection.execute(sa.insert(table), rows)
            connection.execute(sa.text("ANALYZE"))
        self._session = Session(engine)
        self._oso = _oso(self._session)
        self._members = {uid: Member([uid, *groups, ALL]) for uid, groups in facts.groups.items()}

    def close(self) -> None:
        """Give the connection back."""
        self._session.close()
        self._session.get_bind().engine.dispose()

    def _query(self, member: str) -> Any:  # noqa: ANN401 - what the adapter builds
        by_table, by_layer = (
            self._oso.authorized_query(self._members[member], action, OsoTable)
            for action in ("see by table", "see by layer")
        )
        return by_table.union(by_layer)

    def ids(self, member: str) -> list[int]:
        """All tables that the member may see."""
        return [number for (number,) in self._query(member).with_entities(OsoTable.id).all()]

    def page(self, member: str) -> list[str]:
        """The first 50 by name."""
        found = self._query(member).order_by(OsoTable.name).limit(50)
        return [uid for _, uid, _ in found.with_entities(OsoTable.id, OsoTable.uid, OsoTable.name).all()]


def _oso(session: Session) -> Any:  # noqa: ANN401 - oso has no types
    oso: Any = Oso()
    oso.set_data_filtering_adapter(SqlAlchemyAdapter(session))
    oso.register_class(Member, fields={"subjects": list})
    oso.register_class(
        OsoTable,
        fields={
            "id": int,
            "layer_id": int,
            "grants": Relation("many", "TableGrant", "id", "table_id"),
            "layer": Relation("one", "OsoLayer", "layer_id", "id"),
        },
    )
    oso.register_class(OsoLayer, fields={"id": int, "grants": Relation("many", "LayerGrant", "id", "layer_id")})
    oso.register_class(TableGrant, fields={"subject": str, "table_id": int})
    oso.register_class(LayerGrant, fields={"subject": str, "layer_id": int})
    oso.load_str(_POLAR)
    return oso


def _rows(facts: Facts) -> Iterator[tuple[type[_Base], list[dict[str, object]]]]:
    def number(uid: str) -> int:
        return int(uid.lstrip("layert-"))

    yield OsoLayer, [{"id": number(uid)} for uid, kind, _ in facts.resources if kind == "lakehouse.layer"]
    yield (
        OsoTable,
        [
            {"id": number(uid), "uid": uid, "name": name, "layer_id": number(uid) // TABLES_IN_LAYER}
            for uid, kind, name in facts.resources
            if kind == "lakehouse.table"
        ],
    )
    held = {
        kind: {(s, r) for s, role, r in facts.grants if role.startswith(f"lakehouse.{kind}.")}
        for kind in ("table", "layer")
    }
    yield TableGrant, [{"subject": subject, "table_id": number(uid)} for subject, uid in sorted(held["table"])]
    yield LayerGrant, [{"subject": subject, "layer_id": number(uid)} for subject, uid in sorted(held["layer"])]
