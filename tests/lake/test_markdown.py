"""The words of a mail as HTML."""

from __future__ import annotations

import pytest

from lakehold.lake.markdown import as_chat, as_html


def body(text: str) -> str:
    return as_html(text).partition("<body>\n")[2].partition("\n</body>")[0]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", ""),
        ("one\ntwo\n\nthree", "<p>one<br>two</p>\n<p>three</p>"),
        ("# Title #\ntext\n### Less", "<h1>Title</h1>\n<p>text</p>\n<h3>Less</h3>"),
        ("see:\n- a\n* b\n\n1. c\n2) d", "<p>see:</p>\n<ul><li>a</li><li>b</li></ul>\n<ol><li>c</li><li>d</li></ol>"),
        ("**bold** and *leaning*, 2 * 3 * 4", "<p><strong>bold</strong> and <em>leaning</em>, 2 * 3 * 4</p>"),
        ("`a *b* <c>`", "<p><code>a *b* &lt;c&gt;</code></p>"),
        ("[a *b*](https://localhost/?a=1&b=2)!", '<p><a href="https://localhost/?a=1&amp;b=2">a *b*</a>!</p>'),
        ("[a](mailto:b@x.test)", '<p><a href="mailto:b@x.test">a</a></p>'),
        # Nothing becomes HTML of its own.
        ("<script>x</script> & co", "<p>&lt;script&gt;x&lt;/script&gt; &amp; co</p>"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ('[a](https://localhost/"onclick="y)', "<p>[a](https://localhost/&quot;onclick=&quot;y)</p>"),
        ("[**<b>**](https://localhost)", '<p><a href="https://localhost">**&lt;b&gt;**</a></p>'),
    ],
)
def test_what_is_written_is_what_is_read(text: str, made: str) -> None:
    assert body(text) == made


@pytest.mark.parametrize("text", ["*" * 50_000, "[" * 50_000, "`" * 50_001, "**a" * 20_000, "# " * 20_000])
def test_nothing_takes_for_ever(text: str) -> None:
    assert as_html(text)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("# Title #\ntext", "*Title*\ntext"),
        ("- a\n* b\n1. c", "• a\n• b\n1. c"),
        ("**bold** and *leaning*, 2 * 3 * 4", "*bold* and _leaning_, 2 * 3 * 4"),
        ("`a **b** <c>`", "`a **b** &lt;c&gt;`"),
        ("[a](https://localhost/?a=1&b=2)!", "<https://localhost/?a=1&amp;b=2|a>!"),
        ("<!channel> & <https://localhost|y>", "&lt;!channel&gt; &amp; &lt;https://localhost|y&gt;"),
        ("[a](javascript:alert(1))", "[a](javascript:alert(1))"),
    ],
)
def test_a_chat_reads_it_in_its_own_way(text: str, made: str) -> None:
    assert as_chat(text) == made
