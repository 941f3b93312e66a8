"""Computes the tables of data products with Spark. Only a worker imports this.

- `standardise`: standardised records from the rows of a source
- `profile`: the profile of the columns of a source
- `text_columns`: columns of any type as texts
"""
