import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from agent_magic.notebook.markdown import code, escaped, fenced, prose_markdown
from agent_magic.notebook.prose import GrowingProse, prose_html

from ..speed import cpu_seconds, fastest
from .test_writer_safety import words, words_of

DOCUMENT = """# Title

Para with **bold**, *em*, ~~gone~~, `code` and [a link](https://example.org/?a=1&b=2).
Second line\\
after a break.

1. one
2. two
   - nested

   still two

> quoted
> more

| a | b |
|:--|--:|
| 1 | 2 |

```python
x = "<b>"

y = 1
```

$$
a_1 + b_1
= c
$$

---

    indented

- [ ] task
- x

End $a_1*b_1*c_1$ and \\(x_1\\) cost $5 and $6.
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("**a** *b* ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <s>c</s> <code>d</code></p>\n"),
        ("# a", "<h3>a</h3>\n"),
        ("###### a", "<h6>a</h6>\n"),
        ("3. a\n4. b", '<ol start="3">\n<li>\na\n</li>\n<li>\nb\n</li>\n</ol>\n'),
        (
            "[a](https://e.org)",
            '<p><a href="https://e.org" target="_blank" rel="noopener noreferrer">a</a></p>\n',
        ),
        (
            "<me@e.org>",
            '<p><a href="mailto:me@e.org" target="_blank" rel="noopener noreferrer">me@e.org</a></p>\n',
        ),
        ("[a](data.csv)", "<p>[a](data.csv)</p>\n"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("<div>\n**a**\n</div>", "<p>&lt;div&gt;\n<strong>a</strong>\n&lt;/div&gt;</p>\n"),
        (
            "![chart](https://e.org/x.png)",
            '<p><a href="https://e.org/x.png" target="_blank" rel="noopener noreferrer">[chart]</a></p>\n',
        ),
        ("![chart](data:image/png;base64,AAAA)", "<p>[chart]</p>\n"),
        ("a\n\n***\nb", "<p>a</p>\n<hr>\n<p>b</p>\n"),
    ],
)
def test_markdown_becomes_html(source: str, expected: str) -> None:
    assert prose_html(source) == expected


@pytest.mark.parametrize(
    "formula",
    [
        "$a_1*b_1*c$",
        "\\(a_1 \\times b\\)",
        "$$x_1$$",
        "\\[a_1\\]",
        "$$\na\n= b\n+ c\n$$",
        "\\begin{align}\na &= b\n\\end{align}",
    ],
)
def test_latex_stays_as_it_was_written(formula: str) -> None:
    assert words(prose_html(f"So\n\n{formula}\n\nholds.")) == f"So {' '.join(formula.split())} holds."
    assert "<em>" not in prose_html(formula)
    assert "<span>" not in prose_html(formula)


@pytest.mark.parametrize("text", ["From $5 to $6", "$ 5", "costs 5$ or 6$", "US$5,US$6", "C:\\x", "\\begin nothing"])
def test_what_is_no_formula_cannot_be_taken_for_one(text: str) -> None:
    source = prose_html(text).replace("<span>$</span>", "").replace("<span>\\</span>", "")
    assert "$" not in source
    assert "\\" not in source
    assert words(prose_html(text)) == text


@pytest.mark.parametrize(
    "command", ["\\href{javascript:x}{y}", "\\style{a}{b}", "\\require{html}", "\\csname href\\endcsname"]
)
def test_latex_that_could_link_or_style_is_shown_as_code(command: str) -> None:
    assert prose_html(f"${command}$").startswith("<p><code>$")


@pytest.mark.parametrize(
    ("source", "opening"),
    [
        ("مرحبا `code`", '<p dir="auto">'),
        ("## שלום", '<h4 dir="auto">'),
        ("- one\n- שלום", '<ul dir="auto">'),
        ("3. one\n\n   שלום", '<ol dir="auto" start="3">'),
        ("> שלום", '<blockquote dir="auto">'),
        ("|a|\n|-|\n|שלום|", '<div style="overflow-x:auto"><table dir="auto" '),
    ],
)
def test_words_from_right_to_left_tell_the_direction_of_their_block_and_of_no_other(source: str, opening: str) -> None:
    html = prose_html(f"Before.\n\n{source}\n\n***\n\nBehind.")
    assert html.startswith("<p>Before.</p>\n" + opening), html
    assert html.count("dir=") == 1
    assert html.endswith("<p>Behind.</p>\n")


def test_growing_text_reads_as_the_whole_text_at_its_end() -> None:
    growing = GrowingProse()
    for end in range(0, len(DOCUMENT), 5):
        words(growing.html(DOCUMENT[:end]))
    assert growing.html(DOCUMENT) == prose_html(DOCUMENT)


@given(st.lists(st.sampled_from([*DOCUMENT.split("\n"), "", "```", "~~~", "  ", "> x"]), max_size=25))
def test_growing_text_reads_as_the_whole_text_for_any_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    growing = GrowingProse()
    for end in range(0, len(text), 7):
        growing.html(text[:end])
    assert growing.html(text) == prose_html(text)


def test_growing_text_that_is_replaced_begins_anew() -> None:
    growing = GrowingProse()
    growing.html("one\n\ntwo\n\nthree\n")
    assert growing.html("other\n\ntext\n") == prose_html("other\n\ntext\n")


@pytest.mark.parametrize(
    "source",
    [
        "[" * 3000,
        "*a " * 3000,
        "`" * 5000,
        "$" * 5000,
        "> " * 500 + "x",
        "![" * 2000,
        "\\(" * 3000,
        "- " * 500 + "x",
        "|" * 5000 + "\n|-|\n",
    ],
)
def test_malformed_text_is_read_in_bounded_time(source: str) -> None:
    def write() -> None:
        prose_html(source)
        prose_markdown(source)

    assert fastest(lambda: cpu_seconds(write), 1) <= 1


# Markdown -------------------------------------------------------------------------------------------------------------


def reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def test_markdown_written_anew_reads_the_same() -> None:
    source = DOCUMENT.replace("$", "S").replace("\\(", "(").replace("\\)", ")")
    again = prose_markdown(source)
    assert words_of(reader().render(again)) == words_of(reader().render(source))
    assert [t.type for t in reader().parse(again) if "heading" not in t.type] == [
        "fence" if t.type == "code_block" else t.type for t in reader().parse(source) if "heading" not in t.type
    ]


@given(st.text(alphabet="ab1 \n`*_[]()<>&~|$#+-=!.\\\"'{}:/\t", max_size=60))
def test_escaped_text_is_never_markup(text: str) -> None:
    line = " ".join(text.split())
    tokens = reader().parse(f"x {escaped(line)}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    content = "".join(child.content for child in tokens[1].children or ())
    assert {child.type for child in tokens[1].children or ()} <= {"text", "text_special"}
    assert content == f"x {line}".rstrip()


@given(st.text(alphabet="ab`~\n <>", max_size=40))
def test_a_fence_cannot_be_closed_from_inside(text: str) -> None:
    tokens = reader().parse(fenced(text))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.rstrip("\n") == text.rstrip("\n")


@given(st.text(alphabet="ab` <>|*", max_size=40).filter(str.strip))
def test_a_code_span_cannot_be_closed_from_inside(text: str) -> None:
    (inline,) = [token for token in reader().parse(f"x {code(text)} y") if token.type == "inline"]
    spans = [child.content for child in inline.children or () if child.type == "code_inline"]
    assert [" ".join(span.split()) for span in spans] == [" ".join(text.split())]
