"""Pages of a source. It is saved as soon as its connection works, so that each step of the set-up is a form of its own
and works without scripts.

- `setup_pages`: the steps, the connection form, probing a source through a worker, and the schedule
- `source_pages`: the section of the pipeline page, and the choice of streams
- `stream_form`: the form of the streams
- `preview_page`: the first rows of a stream, its format and types
"""
