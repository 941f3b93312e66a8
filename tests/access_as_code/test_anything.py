"""Whatever is in a file, it is read or refused with a place; never anything else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakehold.access_as_code import EntryMetadata, file_format, parse_files, parser, yaml_writer
from lakehold.kit.clock import FOREVER
from lakehold.kit.errors import InvalidInputError, LakeholdError
from tests.access_as_code.test_desired_state import COMPANY
from tests.laws.budget import examples

WORDS = ["ann", "/all", "/", "members", "holds", "[", "]", "{", "}", ":", "\n", "  ", "&a", "*a", "- ", "kind", "from"]
LETTERS = st.characters(exclude_categories=["Cc", "Cs", "Co", "Cn", "Zl", "Zp"])


@examples(200)
@given(st.text() | st.lists(st.sampled_from([*WORDS, *COMPANY.split(" ")]), max_size=40).map(" ".join))
def test_any_text(text: str) -> None:
    assert_read_or_refused(text)


@examples(200)
@given(st.data())
def test_any_slip(data: st.DataObject) -> None:
    """A company with some letters changed."""
    start = data.draw(st.integers(0, len(COMPANY)))
    end = data.draw(st.integers(start, min(len(COMPANY), start + 30)))
    text = COMPANY[:start] + data.draw(st.text(max_size=5) | st.sampled_from(WORDS)) + COMPANY[end:]
    assert_read_or_refused(text)


def assert_read_or_refused(text: str) -> None:
    said = "any.yaml:"
    try:
        parse_files({"any.yaml": text})
    except LakeholdError as error:
        said = error.message
    assert said.startswith("any.yaml:")


@examples(300)
@given(st.dictionaries(st.text(LETTERS, min_size=1), st.text(LETTERS, min_size=1), min_size=1))
def test_every_text_comes_back(texts: dict[str, str]) -> None:
    tree = {"section": {name: yaml_writer.YamlLeaf(yaml_writer.quote_scalar(text)) for name, text in texts.items()}}
    (section,) = parser.parse_document(yaml_writer.render_document(tree), "any.yaml").entries.values()
    assert isinstance(section[1], parser.MappingNode)
    found = {key: node.value for key, (_, node) in section[1].entries.items() if isinstance(node, parser.ScalarNode)}
    assert found == texts


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(LETTERS),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(LETTERS), inner),
    max_leaves=20,
)


@examples(300)
@given(st.dictionaries(st.text(LETTERS), JSON), st.text(LETTERS | st.sampled_from("\n\t# |:-")))
def test_everything_told_comes_back(settings: dict[str, object], description: str) -> None:
    said = EntryMetadata(description=description, settings=settings)
    thing = {
        "settings": yaml_writer.YamlLeaf(yaml_writer.flow_value(settings)),
        "description": yaml_writer.block_scalar(description or "x"),
    }
    text = yaml_writer.render_document({"members": {"ann": thing}})
    found = parse_files({"any.yaml": text}).state.metadata["ann"]
    assert found.is_same(said if description else EntryMetadata(description="x", settings=settings)), text


@examples(300)
@given(st.integers(-(10**17), FOREVER - 1))
def test_every_moment_comes_back(at: int) -> None:
    try:
        assert file_format.parse_moment(file_format.format_moment(at)) == at
    except InvalidInputError:
        assert at < 0  # before the year 1000, which nothing is
