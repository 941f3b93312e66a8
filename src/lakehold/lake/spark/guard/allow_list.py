"""Allow list of functions, plan nodes and expressions for queries of users.

Not allowed are functions that reach outside of the rows: into the JVM (`reflect`, `java_method`, `try_reflect`), to
files (`input_file_name` and its kin, the descriptor files of `from_protobuf`, Avro), to the machine's user and version
(`current_user`, `user`, `session_user`, `version`), and XML with its external entities (`xpath`, `from_xml`). Nor those
that read sketches (`hll_…`, `theta_…`, `kll_…`, `approx_top_k_…`): they trust the length that the bytes claim, and the
rows of all users are in the same memory.

Nodes are listed by short names in Spark's own packages for plans and expressions. A leaf that reads is one of four: a
table of the user's catalog, rows written in the query itself, a range of numbers, or a single empty row. Each listed
node is in one of the ordinary queries of the guard's tests or in an example that Spark itself gives of a function.
"""

from collections.abc import Mapping
from typing import Any

_NAMES = """
    ! % & * + - / < << <= <=> = == > >= >> >>> ^ | ~ and or not in like ilike rlike regexp regexp_like between div
    mod when if ifnull nvl nvl2 nullif nullifzero zeroifnull coalesce isnull isnotnull isnan nanvl equal_null
    greatest least
    abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc degrees e exp
    expm1 factorial floor hex hypot ln log log10 log1p log2 negative pi pmod positive pow power radians rand randn
    random rint round sec sign signum sin sinh sqrt tan tanh try_add try_divide try_mod try_multiply try_subtract
    unhex uniform width_bucket bit_count bit_get getbit shiftleft shiftright shiftrightunsigned
    ascii base64 bit_length btrim char char_length character_length chr collate collation concat concat_ws contains
    crc32 decode elt encode endswith find_in_set format_number format_string hash initcap instr is_valid_utf8 lcase
    left len length levenshtein locate lower lpad ltrim luhn_check make_valid_utf8 mask md5 octet_length overlay
    parse_url position printf quote randstr regexp_count regexp_extract regexp_extract_all regexp_instr
    regexp_replace regexp_substr repeat replace reverse right rpad rtrim sentences sha sha1 sha2 soundex space split
    split_part startswith string substr substring substring_index to_binary to_char to_number to_varchar translate
    trim try_parse_url try_to_binary try_to_number try_url_decode try_validate_utf8 ucase unbase64 upper url_decode
    url_encode validate_utf8 xxhash64 aes_decrypt aes_encrypt try_aes_decrypt uuid
    add_months convert_timezone curdate current_date current_timestamp current_timezone date date_add date_diff
    date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth
    dayofweek dayofyear extract from_unixtime from_utc_timestamp hour last_day localtimestamp make_date
    make_dt_interval make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute
    month monthname months_between next_day now quarter second session_window timestamp timestamp_micros
    timestamp_millis timestamp_seconds to_date to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
    to_utc_timestamp trunc try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz
    try_to_date try_to_timestamp unix_date unix_micros unix_millis unix_seconds unix_timestamp weekday weekofyear
    window window_time year
    bigint binary boolean cast decimal double float int smallint tinyint typeof
    any any_value approx_count_distinct approx_percentile approx_top_k array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_bit_position bitmap_bucket_number bitmap_construct_agg bitmap_count bitmap_or_agg bool_and
    bool_or collect_list collect_set corr count count_if count_min_sketch covar_pop covar_samp every first
    first_value grouping grouping_id histogram_numeric kurtosis last last_value listagg max max_by mean median min
    min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp
    string_agg sum try_avg try_sum var_pop var_samp variance
    cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
    aggregate array array_append array_compact array_contains array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove array_repeat array_size
    array_sort array_union arrays_overlap arrays_zip cardinality element_at exists filter flatten forall get map
    map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values
    map_zip_with named_struct reduce sequence shuffle size slice sort_array str_to_map struct transform
    transform_keys transform_values try_element_at zip_with
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack variant_explode
    variant_explode_outer range
    from_csv from_json get_json_object is_variant_null json_array_length json_object_keys parse_json schema_of_csv
    schema_of_json schema_of_variant schema_of_variant_agg to_csv to_json to_variant_object try_parse_json
    try_variant_get variant_get
    assert_true raise_error monotonically_increasing_id spark_partition_id
"""

ALLOWED_FUNCTIONS = frozenset(_NAMES.split())


LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_AGGREGATES, _VARIANTS = EXPRESSIONS + "aggregate.", EXPRESSIONS + "variant."


def qualify(names_by_package: Mapping[str, str]) -> frozenset[str]:
    """Return the full names of classes, listed by package."""
    return frozenset(package + name for package, names in names_by_package.items() for name in names.split())


READ_NODES = frozenset({"org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"})
"""A table: the catalog has let it through."""

PARSED_NODES = qualify(
    {
        LOGICAL: "Pivot Unpivot UnresolvedHint UnresolvedWith WithWindowDefinition",
        ANALYSIS: """
            MultiAlias RelationTimeTravel UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue
            UnresolvedFunction UnresolvedGenerator UnresolvedHaving UnresolvedInlineTable UnresolvedOrdinal
            UnresolvedRelation UnresolvedStar UnresolvedStarExceptOrReplace UnresolvedSubqueryColumnAliases
            UnresolvedTVFAliases UnresolvedTableValuedFunction
        """,
        EXPRESSIONS: """
            Cube GroupingSets NamedArgumentExpression PipeExpression Rollup SemiStructuredExtract UnresolvedCollation
            UnresolvedNamedLambdaVariable UnresolvedWindowExpression UnspecifiedFrame$
        """,
    }
)
"""Plan nodes of the parser only, before names are resolved."""

ANALYSED_NODES = READ_NODES | qualify(
    {
        LOGICAL: """
            Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect Join
            LateralJoin LocalLimit LocalRelation Offset OneRowRelation Project Sample Sort SubqueryAlias Union
            UnionLoop UnionLoopRef Window WithCTE
        """,
        ANALYSIS: "ResolvedInlineTable",
        EXPRESSIONS: """
            Alias AttributeReference BinaryPad BinaryPredicate Ceil Collate CommonExpressionDef CommonExpressionRef
            Contains CurrentRow$ DateAddInterval DateAddYMInterval DatetimeSub DivideDTInterval DivideInterval
            DivideYMInterval EndsWith Exists Explode ExtractANSIIntervalDays ExtractANSIIntervalHours
            ExtractANSIIntervalMinutes ExtractANSIIntervalMonths ExtractANSIIntervalSeconds ExtractANSIIntervalYears
            ExtractIntervalDays ExtractIntervalHours ExtractIntervalMinutes ExtractIntervalMonths
            ExtractIntervalSeconds ExtractIntervalYears Floor GetArrayItem GetArrayStructFields GetMapValue
            GetStructField Hour InSubquery Inline KnownNullable LambdaFunction LateralSubquery LikeAll LikeAny
            ListQuery Literal MakeTimestamp MakeTimestampFromDateTime Mask Minute MultiplyDTInterval MultiplyInterval
            MultiplyYMInterval NamedLambdaVariable NotLikeAll NotLikeAny OuterReference PipeOperator PosExplode
            PreciseTimestampConversion RaiseError ResolvedCollation RoundCeil RoundFloor ScalarSubquery Second
            SecondWithFraction SortOrder SpecifiedWindowFrame StartsWith StringDecode StringLPad StringRPad
            SubtractDates SubtractTimestamps TimestampAdd TimestampAddInterval TimestampAddYMInterval TimestampDiff
            ToCharacter TryEval TryMakeTimestamp TryMakeTimestampFromDateTime TypedNullLiteral UnboundedFollowing$
            UnboundedPreceding$ WindowExpression WindowSpecDefinition With
        """,
        _AGGREGATES: "AggregateExpression CountMinSketchAgg Mode PercentileCont PercentileDisc PivotFirst",
        _VARIANTS: "ParseJson VariantExplode VariantGet",
    }
)
"""What the analyser makes of it; the classes of the allowed functions come to these."""


def short_name(name: str) -> str:
    """Return the readable name of a class of Spark."""
    return name.rpartition(".")[2].removesuffix("$").removesuffix("Command")


_CALLS = {
    ANALYSIS + "UnresolvedFunction": "nameParts",
    ANALYSIS + "UnresolvedTableValuedFunction": "name",
    ANALYSIS + "UnresolvedGenerator": "name",
}


def called_function(node: Mapping[str, Any]) -> str | None:
    """Return the name of the function that a parsed node calls, as Spark looks it up; None if it calls none.

    Names come as `[name]`, or qualified as `[a, b, name]`, which is no function's name.
    """
    field = _CALLS.get(node.get("class", ""))
    if field is None:
        return None
    name = node[field]
    if isinstance(name, dict):
        name = f"[{', '.join(name[part] for part in ('catalog', 'database', 'funcName') if name.get(part))}]"
    return str(name).lower()[1:-1]
