"""The steps of refreshing a source and of running a data product. `executors` executes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lakehold.runs.runnable import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshSource(Step):
    """Load the rows of a source into its table, and profile them."""

    identity: ClassVar[str] = "source"

    source: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductStep(Step):
    """A step of a run of a data product."""

    product: str
    settings: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardiseRecords(ProductStep):
    """Standardise the rows of all sources into the table of records."""

    keys: Mapping[str, tuple[str, ...]]
    """The key columns of each source, by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRecords(ProductStep):
    """Find the pairs of records that may be the same, with their probability."""

    full: bool = False
    """Whether all pairs are compared again, with a model that is trained anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRecords(ProductStep):
    """Put the records that are the same together, under the id that their entity has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateEntities(ProductStep):
    """Make the golden record of each entity, and save what makes up the new version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishVersion(ProductStep):
    """Make the newest version the one that 360 pages and destinations have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverVersion(ProductStep):
    """Send the entities of the published version to a destination."""

    identity: ClassVar[str] = "destination"

    destination: str
    destination_settings: Mapping[str, object]
