"""Pages of a report.

- `report_form`: the values of the form, and its validation
- `form_options`: data marts, columns, destinations, operators and aggregates to choose from
- `form_pages`: the pages of the form; previews of the rows and the message that it would send
- `report_page`: the page of a report, its rows and insights
"""
