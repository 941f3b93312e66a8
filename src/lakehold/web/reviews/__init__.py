"""Access reviews: campaigns over a workspace, at `/reviews`.

- `campaign_list`: all campaigns with their progress, and starting one
- `campaign_page`: one campaign: who holds which role, since when, when it was last used, and the decision; with the
  filters of its list, and the report of everybody's effective access
- `decisions`: keep, remove, reopen, close; and the export of the decisions as CSV or JSON lines

lakehold.catalog.campaigns defines what a campaign is and who takes part in it.
"""
