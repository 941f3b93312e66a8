"""Visual steps of a transform task: a chain from one input to one result, compiled to SQL without Spark.

- `settings`: the settings of each kind of step
- `compiler`: the SQL and the columns after each step, or what is wrong with one and with which
- `step_queries`: the query of one step over the one before it
- `input_queries`: the same for steps that read another input
- `columns`: columns with their types, and looking them up by name
- `derived_expressions`: checks the SQL expression of a derived column
"""
