"""Matching: which records are of one entity.

Records are read as Parquet or Arrow with the part columns that standardisation made (`attribute_types`). Those that
are equal are collapsed, blocking chooses the pairs that are compared, a model is trained on them without labels, and
Splink scores them on DuckDB. Nothing here knows the platform; `engine`, `match_run` and `record_score` load DuckDB and
Splink, so the server imports none of them.

- `blocking`: which pairs are compared, counted beforehand
- `comparison_library`: the levels of agreement by type of attribute
- `comparisons`: what a comparison is, and those of a product's attributes
- `engine`: a run on DuckDB, step by step
- `match_process`: a run in a process of its own
- `match_run`: a full or incremental run over files
- `model`: a trained model, as JSON
- `options`: the options of a run, and its report
- `pattern_counts`: the patterns of agreement that training learns from
- `record_score`: the score of one record with some candidates, at once
- `training`: expectation maximisation with rivals
"""
