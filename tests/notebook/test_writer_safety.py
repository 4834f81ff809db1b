"""Nothing that a model, a tool or a user said becomes markup: checked with parsers, on every way into a record."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from typing import Any

import nh3
import pytest
from markdown_it import MarkdownIt

from agent_magic.agent.reply import Reply
from agent_magic.events import PartialToolCall, TextDelta, ThinkingDelta
from agent_magic.messages import ToolCall
from agent_magic.notebook.bundle import mimebundle
from agent_magic.notebook.outputs import output_bundles, safe_bundle

from .record_script import SCHEMAS, Script, checked

ATTACKS = json.loads((SCHEMAS.parent / "tests" / "attacks.json").read_text(encoding="utf-8"))

ATTRIBUTES = {
    "a": {"href", "target", "rel"},
    "img": {"src", "alt", "style"},
    "details": {"open", "style"},
    "ol": {"start"},
}
STYLED = {
    "b",
    "blockquote",
    "br",
    "code",
    "div",
    "em",
    "hr",
    "li",
    "p",
    "pre",
    "s",
    "small",
    "span",
    "strong",
    "summary",
}
STYLED |= {"h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr", "ul"}
TAGS = STYLED | set(ATTRIBUTES)
VOID = {"br", "hr", "img"}

# What JupyterLab's sanitiser lets through, as far as it concerns our elements.
LAB_TAGS = TAGS | {
    "h1",
    "h2",
    "i",
    "u",
    "sub",
    "sup",
    "section",
    "article",
    "figure",
    "figcaption",
    "input",
    "button",
}
LAB_ATTRIBUTES = {
    "*": {"class", "dir", "hidden", "id", "lang", "style", "title"},
    "a": {"href", "name", "target"},
    "details": {"open"},
    "img": {"alt", "height", "src", "width"},
    "ol": {"reversed", "start", "type"},
}


class Checker(HTMLParser):
    """Accepts only our elements, properly nested, with our attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, f"<{tag}>"
        for name, value in attrs:
            assert name in ATTRIBUTES.get(tag, {"style"}), f"{name}= on <{tag}>"
            if name == "href":
                assert re.match(r"(https?://|mailto:)", value or "", re.IGNORECASE), value
            if name == "src":
                assert re.fullmatch(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=]+", value or ""), value
            if name == "style":
                assert not re.search(r"url|expression|@|\\|<|&", value or ""), value
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("a declaration")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError("a declaration")

    def handle_pi(self, data: str) -> None:
        raise AssertionError("a processing instruction")


def words(source: str) -> str:
    checker = Checker()
    checker.feed(source)
    checker.close()
    assert checker.open == []
    return " ".join("".join(checker.words).split())


def full(attack: str, live: bool) -> dict[str, Any]:
    """A record in which everything that can come from outside is the attack."""
    script = Script().ask(attack)
    script.recorder.add_item("context", title=attack, text=attack)
    script.begin().stream(ThinkingDelta(0, attack), TextDelta(1, attack))
    call = ToolCall(attack, attack, {attack: attack, "list": [attack], "lines": f"\n{attack}"})
    script.end().calls(call).start(call).progress(call, attack)
    if not live:
        script.recorder.add_outputs(attack, output_bundles(ValueError(attack)))
        script.recorder.add_outputs(attack, [safe_bundle({"text/html": attack, "text/markdown": attack})])
        script.recorder.add_outputs(attack, [TABLE | {"text/plain": attack} for TABLE in [table(attack)]])
        script.result(call, attack)
    script.recorder.add_item("approval", "pending", name=attack, reason=attack, arguments={"code": attack})
    refused = ToolCall("c2", attack, {})
    script.calls(refused)
    script.recorder.mark_denied("c2", attack)
    script.start(refused).result(refused, attack, is_error=True)
    failed = ToolCall("c3", attack, {})
    script.calls(failed).start(failed).result(failed, attack, is_error=True)
    script.recorder.add_note(attack)
    if live:
        script.begin().stream(TextDelta(0, attack), PartialToolCall(1, attack, "c4", ""))
    else:
        script.recorder.finish(Reply(notes=(attack,)))
        script.recorder.add_item("error", "failed", text=attack)
    record = checked(script.recorder)
    return {**record, "model": attack, "omitted": [attack]}


def table(attack: str) -> dict[str, Any]:
    shape = {"name": attack, "columns": [attack], "index": [attack], "rows": [[attack]], "numeric": [], "shape": [1, 1]}
    return {"application/vnd.agent-magic.table+json": shape}


@pytest.mark.parametrize("live", [False, True], ids=["saved", "live"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_html_holds_only_our_elements(attack: str, live: bool) -> None:
    source = mimebundle(full(attack, live), live=live, with_prompt=True)["text/html"]
    words(source)
    # Sanitised or not, the same words are there to read.
    cleaned = nh3.clean(
        source, tags=LAB_TAGS, attributes=LAB_ATTRIBUTES, url_schemes={"http", "https", "mailto", "data"}
    )
    assert words_of(cleaned) == words_of(source)


def words_of(source: str) -> str:
    return "".join(html.unescape(re.sub(r"<[^>]*>", "", source)).split())


@pytest.mark.parametrize("attack", ATTACKS)
def test_markdown_holds_no_markup_of_others(attack: str) -> None:
    source = mimebundle(full(attack, False), with_prompt=True)["text/markdown"]
    # A reader that lets raw HTML and every link through, as a page that trusts the output does.
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    reader.validateLink = lambda url: True  # type: ignore[method-assign]
    for token in flattened(reader.parse(source)):
        assert token.type not in ("html_block", "html_inline", "image"), token.content
        if token.type == "link_open":
            assert re.match(r"(https?://|mailto:)", token.attrs["href"], re.IGNORECASE)


def flattened(tokens: Any) -> Any:
    for token in tokens:
        yield token
        yield from flattened(token.children or ())


@pytest.mark.parametrize("attack", ATTACKS)
def test_plain_text_holds_no_control_or_hidden_characters(attack: str) -> None:
    source = mimebundle(full(attack, False), with_prompt=True)["text/plain"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", source)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_half_written_answer_is_as_safe_as_a_whole_one(attack: str) -> None:
    for end in range(0, len(attack), 3):
        script = Script().begin().stream(TextDelta(0, attack[:end]))
        words(mimebundle(script.recorder.record(), live=True)["text/html"])


def test_displayed_html_javascript_and_widgets_never_get_through() -> None:
    shown = {
        "text/html": "<script>alert(1)</script><p>Total <b>5</b></p><style>p{}</style>",
        "text/markdown": "<b>x</b>",
        "application/javascript": "alert(1)",
        "image/svg+xml": "<svg onload=alert(1)>",
        "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
        "text/plain": "<IPython.core.display.HTML object>",
    }
    assert safe_bundle(shown) == {"text/plain": "Total 5"}


@pytest.mark.parametrize("kind", ["application/vnd.plotly.v1+json", "application/vnd.vegalite.v5+json"])
def test_charts_are_only_taken_from_the_users_own_tools(kind: str) -> None:
    shown = {kind: {"data": [1, float("nan")]}, "text/plain": "chart"}
    assert safe_bundle(shown, "user") == {kind: {"data": [1, None]}, "text/plain": "chart"}
    assert safe_bundle(shown, "mcp") == {"text/plain": "chart"}


def test_a_picture_that_is_none_is_dropped() -> None:
    assert safe_bundle({"image/png": 'x" onerror="alert(1)'}) == {}
    assert safe_bundle({"image/png": "<svg>", "text/plain": "p"}) == {"text/plain": "p"}
    assert safe_bundle({"image/svg+xml": "PHN2Zy8+"}) == {}
