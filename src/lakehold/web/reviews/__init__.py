"""Access reviews: campaigns over a workspace, at `/reviews`.

- `campaign_pages`: the list, starting a campaign, its page with the roles and decisions, and the access report
- `decisions`: keep, remove, reopen, close; and the export of the decisions as CSV or JSON lines

lakehold.catalog.campaigns defines what a campaign is and who takes part in it.
"""
