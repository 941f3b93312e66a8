"""Guards queries of users: what is not on the allow list is refused, including every new node or function.

The REST catalog decides which tables exist for a user (see `lakehold.api.iceberg_rest`); the guard decides what may be
done with them. It reads the plans of Spark's own parser and analyser, never the text itself.

- `text_bounds`: bounds how deeply a text is nested, before it is parsed
- `query_guard`: checks the parsed and the analysed plan, and the tables that it reads
- `allow_list`: the allowed functions, plan nodes and expressions
- `constants`: refuses work in places that Spark evaluates during the analysis
- `plan_size`: bounds nodes and columns of a parsed plan, once its CTEs are expanded
- `query_errors`: errors of queries as users may read them
"""
