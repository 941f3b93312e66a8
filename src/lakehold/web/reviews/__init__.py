"""Access reviews: campaigns over a workspace, at `/reviews`.

- `lists`: all campaigns with how far they are, and beginning a new one
- `campaign`: one campaign: who holds what, since when, when it was last used, and what was decided
- `asking`: what the address of a campaign's list asks for
- `deciding`: keep, remove, take back, close
- `results`: what was decided, as a file
- `working_out`: who could do what, worked out by Spark in the background, and its file

What a campaign is and who takes part in it is said by `lakehold.catalog.campaigns`.
"""
