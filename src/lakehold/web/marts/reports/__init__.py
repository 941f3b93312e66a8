"""Reports: what is asked of a data mart, and where it goes.

- `routes`: the pages of the form; `filled`: what it says, and what is kept of it; `checking`: what is wrong with it
- `choosing`: marts, columns and destinations to choose from; `kinds`: what can be asked of a type
- `asking`: the rows and the words that a report would send
- `page`: the page of one, and its data; `telling`: what it asks, in words; `insights`: what became of it
"""
