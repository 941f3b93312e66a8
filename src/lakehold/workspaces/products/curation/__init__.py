"""Curation of data products: what people say about records and entities, which every later run obeys.

An act is a row that is never changed, but for who has undone it. It holds the ids of the records that it speaks of, so
that it means the same after any run. `constraints` turns the acts that are in force into what a run has to obey.

- `tables`: the tables in the metadata database
- `acts`: an act, and which records it links or parts
- `act_log`: saves and loads acts
- `entity_lookup`: which records an entity has, by the tables of the last run
- `curated_product`: a data product in the hands of a curator
- `entity_edits`: merge, split and move; new entities; verification; comments
- `overrides`: values that curators set
- `pair_answers`: whether two records are the same
- `undo`: undoes acts, and names later ones that rest on them
- `constraints`: the links, parted pairs, verified groups and overrides of a run
- `pair_queue`: uncertain pairs by the value of an answer, with assignment and progress
- `suggestions`: merges that anybody suggests
- `history`: the acts on an entity and its records
- `named_views`: filters and columns under a name
"""
