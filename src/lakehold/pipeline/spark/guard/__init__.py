"""What a person's query may be made of. What is not listed is refused: every new node or function, until it is read.

The catalog decides which tables there are (see `lakehold.api.iceberg`); here it is decided what may be done with them.
Spark's own parser and analyser tell what a text means; nothing here looks at the text itself.

- `nodes`: the parts of plans and expressions
- `functions`: the functions
- `plans`: what Spark tells of a plan
- `relations`: the tables of an analysed plan
- `guard`: asks all of them, of a parsed and of an analysed plan
- `words`: what is told of an error
"""
