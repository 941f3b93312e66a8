"""The parts of plans and expressions that a query may have, beside the classes of the functions.

Short names: the packages are Spark's own for plans and expressions. A leaf that reads is one of four: a table of the
person's catalog, rows written in the query itself, a range of numbers, or one row of nothing. Each part listed here is
in one of the ordinary queries of `tests/pipeline/attacks` or in an example that Spark itself gives of a function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."


def _named(package: str, names: str) -> frozenset[str]:
    return frozenset(package + name for name in names.split())


READ = frozenset({"org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"})
"""A table: the catalog has let it through."""

PARSED = frozenset().union(
    _named(
        _LOGICAL,
        """
        Pivot Unpivot UnresolvedHint UnresolvedWith WithWindowDefinition
        """,
    ),
    _named(
        _ANALYSIS,
        """
        MultiAlias RelationTimeTravel UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue UnresolvedFunction
        UnresolvedGenerator UnresolvedHaving UnresolvedInlineTable UnresolvedOrdinal UnresolvedRelation UnresolvedStar
        UnresolvedStarExceptOrReplace UnresolvedSubqueryColumnAliases UnresolvedTVFAliases
        UnresolvedTableValuedFunction
        """,
    ),
    _named(
        _EXPRESSIONS,
        """
        Cube GroupingSets NamedArgumentExpression PipeExpression Rollup SemiStructuredExtract UnresolvedCollation
        UnresolvedNamedLambdaVariable UnresolvedWindowExpression UnspecifiedFrame$
        """,
    ),
)
"""What only the parser makes of a query, before anything is looked up."""

ANALYSED = frozenset().union(
    READ,
    _named(
        _LOGICAL,
        """
        Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect Join
        LateralJoin LocalLimit LocalRelation Offset OneRowRelation Project Sample Sort SubqueryAlias Union UnionLoop
        UnionLoopRef Window WithCTE
        """,
    ),
    _named(_ANALYSIS, "ResolvedInlineTable"),
    _named(
        _EXPRESSIONS,
        """
        Alias AttributeReference BinaryPad BinaryPredicate Ceil Collate CommonExpressionDef CommonExpressionRef
        Contains CurrentRow$ DateAddInterval DateAddYMInterval DatetimeSub DivideDTInterval DivideInterval
        DivideYMInterval EndsWith Exists Explode ExtractANSIIntervalDays ExtractANSIIntervalHours
        ExtractANSIIntervalMinutes ExtractANSIIntervalMonths ExtractANSIIntervalSeconds ExtractANSIIntervalYears
        ExtractIntervalDays ExtractIntervalHours ExtractIntervalMinutes ExtractIntervalMonths ExtractIntervalSeconds
        ExtractIntervalYears Floor GetArrayItem GetArrayStructFields GetMapValue GetStructField Hour InSubquery Inline
        KnownNullable LambdaFunction LateralSubquery LikeAll LikeAny ListQuery Literal MakeTimestamp
        MakeTimestampFromDateTime Mask Minute MultiplyDTInterval MultiplyInterval MultiplyYMInterval
        NamedLambdaVariable NotLikeAll NotLikeAny OuterReference PipeOperator PosExplode PreciseTimestampConversion
        RaiseError ResolvedCollation RoundCeil RoundFloor ScalarSubquery Second SecondWithFraction SortOrder
        SpecifiedWindowFrame StartsWith StringDecode StringLPad StringRPad SubtractDates SubtractTimestamps
        TimestampAdd TimestampAddInterval TimestampAddYMInterval TimestampDiff ToCharacter TryEval TryMakeTimestamp
        TryMakeTimestampFromDateTime TypedNullLiteral UnboundedFollowing$ UnboundedPreceding$ WindowExpression
        WindowSpecDefinition With
        """,
    ),
    _named(
        _EXPRESSIONS + "aggregate.",
        """
        AggregateExpression CountMinSketchAgg Mode PercentileCont PercentileDisc PivotFirst
        """,
    ),
    _named(_EXPRESSIONS + "variant.", "ParseJson VariantExplode VariantGet"),
)
"""What the analyser makes of it; the classes of the allowed functions come to these."""

_CALLS = {
    _ANALYSIS + "UnresolvedFunction": "nameParts",
    _ANALYSIS + "UnresolvedTableValuedFunction": "name",
    _ANALYSIS + "UnresolvedGenerator": "name",
}


def called(node: Mapping[str, Any]) -> str | None:
    """The name of the function that a parsed node calls, as Spark will look for it; None if it calls none.

    Names come as `[name]`, or with the parts before them as `[a, b, name]`, which is what no function is called.
    """
    field = _CALLS.get(node.get("class", ""))
    if field is None:
        return None
    name = node[field]
    if isinstance(name, dict):
        name = f"[{', '.join(name[part] for part in ('catalog', 'database', 'funcName') if name.get(part))}]"
    return str(name).lower()[1:-1]
