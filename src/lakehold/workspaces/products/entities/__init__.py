"""Makes entities of records, without Spark: its executors apply these to tables of any size.

- `components`: connected components of links, over Arrow columns
- `constraints`: what curators have said of records, and which of it holds where two acts contradict each other
- `disjoint_sets`: sets of texts that are joined
- `golden_values`: the values of entities by the rules of their attributes, over Arrow columns
- `splits`: cuts a component at its weakest links
- `successors`: the entities that a retired id stands for now
"""
