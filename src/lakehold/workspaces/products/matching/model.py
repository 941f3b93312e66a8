"""A trained match model: its comparisons with the learnt shares, as JSON that can be kept and read again."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.matching.comparison_library import build_comparisons
from lakehold.workspaces.products.matching.comparisons import (
    Comparison,
    MatchedAttribute,
    levels_query,
)

FORMAT = 1


@dataclass(slots=True)
class MatchModel:
    """The parameters that decide whether two records are of one entity. Shares are lists by comparison and level."""

    attributes: list[MatchedAttribute]
    m: list[list[float]]
    u: list[list[float]]
    rivals: dict[str, list[list[float]]]
    prior: float
    rival_priors: dict[str, float]
    notes: list[str] = field(default_factory=list)
    """What training could not learn."""

    @property
    def comparisons(self) -> list[Comparison]:
        """Return the comparisons that the shares are of."""
        return build_comparisons(self.attributes)

    @property
    def prior_weight(self) -> float:
        """The weight of a pair of which nothing is known."""
        return _bits(self.prior / (1 - self.prior))

    def splink_settings(self) -> dict[str, Any]:
        """Return the settings of a Splink linker; ids are in the column `id`."""
        pairs = zip(self.comparisons, self.m, self.u, strict=True)
        return {
            "link_type": "dedupe_only",
            "unique_id_column_name": "id",
            "comparisons": [each.to_splink(m, u) for each, m, u in pairs],
            "probability_two_random_records_match": self.prior,
            "blocking_rules_to_generate_predictions": [],
            "retain_matching_columns": False,
            "retain_intermediate_calculation_columns": True,
        }

    def frequency_columns(self) -> list[str]:
        """Return the columns whose frequent values weigh less."""
        columns = (level.frequency for each in self.comparisons for level in each.levels)
        return sorted({column for column in columns if column})

    def weights_query(self, predictions: str) -> str:
        """Return the query of the weights of the pairs that Splink has predicted."""
        adjusted = "".join(f", mw_tf_adj_{each.name}" for each in self.comparisons if each.has_frequency)
        levels = levels_query(self.comparisons, predictions, f", match_weight{adjusted}")
        return f"select id_l, id_r, {self.weight_expression()} as weight from ({levels})"

    def weight_expression(self) -> str:
        """Return the SQL expression of a pair's weight over Splink's weights and the levels of the comparisons.

        Splink's weight compares one entity with unrelated ones; this adds the rivals: entities that look alike.
        """
        rivals = [f"power(2::double, {self._rival_weight(rival)})" for rival in sorted(self.rivals)]
        return f"match_weight - log2({' + '.join(['1', *rivals])})" if rivals else "match_weight"

    def _rival_weight(self, rival: str) -> str:
        terms = [f"{_bits(self.rival_priors[rival])}::double"]
        for comparison, shares, base in zip(self.comparisons, self.rivals[rival], self.u, strict=True):
            if rival not in comparison.rivals():
                continue
            ratios = enumerate(zip(shares, base, strict=True))
            levels = (f"when {place} then {_bits(r / u)}::double" for place, (r, u) in ratios)
            terms.append(f"case level_{comparison.name} {' '.join(levels)} else 0 end")
            if comparison.has_frequency:
                terms.append(f"mw_tf_adj_{comparison.name}")
        return " + ".join(terms)

    def to_json(self) -> str:
        """Return the model as JSON, with the same text for the same model."""
        value = {
            "format": FORMAT,
            "attributes": [[each.name, each.type.value] for each in self.attributes],
            "prior": self.prior,
            "rival_priors": self.rival_priors,
            "m": self.m,
            "u": self.u,
            "rivals": self.rivals,
            "notes": self.notes,
        }
        return json.dumps(value, indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> MatchModel:
        """Read a model."""
        value = json.loads(text)
        if value.pop("format") != FORMAT:
            raise ValueError("The match model has an unknown format.")
        attributes = [MatchedAttribute(name, AttributeType(kind)) for name, kind in value.pop("attributes")]
        return cls(attributes=attributes, **value)

    def fits(self, attributes: Sequence[MatchedAttribute]) -> bool:
        """Return whether the model was trained on these attributes."""
        comparisons = self.comparisons
        sizes = [len(shares) for shares in self.m]
        return list(attributes) == self.attributes and sizes == [len(each.levels) for each in comparisons]


def _bits(ratio: float) -> float:
    return round(math.log2(ratio), 6)
