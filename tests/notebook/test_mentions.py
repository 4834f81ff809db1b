"""What of a prompt is a mention, and what stays text."""

import pytest

from agent_magic.messages import ImageContent, TextContent
from agent_magic.notebook.markdown import fenced
from agent_magic.notebook.mentions import Mention, find_mentions, mention_block, name_of_block, split_content


def names(prompt: str) -> list[str]:
    return [mention.text for mention in find_mentions(prompt)]


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Look at @df.", ["@df"]),
        ('@df and (@fig), "@x", @y; what\'s @z?', ["@df", "@fig", "@x", "@y", "@z"]),
        ("@df.price vs @np.mean", ["@df.price", "@np.mean"]),
        ("@größe", ["@größe"]),
        ("@In[3] gave @Out[3], then @In[-2]", ["@In[3]", "@Out[3]", "@In[-2]"]),
        ("why @error?", ["@error"]),
        ("@df @df @df", ["@df"]),
        ("line\n@df\nline", ["@df"]),
    ],
)
def test_names_and_cells_are_found_in_order_and_once(prompt: str, found: list[str]) -> None:
    assert names(prompt) == found


@pytest.mark.parametrize(
    ("prompt", "path", "text"),
    [
        ("see @file:data/x.csv.", "data/x.csv", "@file:data/x.csv"),
        ("see (@file:x.csv)", "x.csv", "@file:x.csv"),
        ('see @file:"my data/x y.csv" now', "my data/x y.csv", '@file:"my data/x y.csv"'),
        ("see @file:'a b.txt'", "a b.txt", "@file:'a b.txt'"),
        ("see @file:../x", "../x", "@file:../x"),
    ],
)
def test_files_may_stand_in_quotes(prompt: str, path: str, text: str) -> None:
    assert find_mentions(prompt) == [Mention("file", path, text)]


@pytest.mark.parametrize(
    "prompt",
    [
        "mail me@df.com or a.b+c@df",
        "A@B and x @ y",
        "@@df",
        "https://host/@df",
        "use `@df` and ``x `@df` ``",
        "```python\n@df\ndef f(): ...\n```",
        "~~~\n@df\n~~~",
        "```\n@df left open",
        "@tool\ndef f(): ...",
        "@tool(effect='read')\n@a.other\nasync def f(): ...",
        "  @property\n  def f(self): ...",
        "@dataclass\nclass A: ...",
        "@",
        "@ df",
        "@1",
        "",
    ],
)
def test_addresses_operators_decorators_and_code_are_no_mentions(prompt: str) -> None:
    assert names(prompt) == []


def test_text_after_a_fence_is_text_again() -> None:
    assert names("```\n@a\n```\n@b `@c` @d\n@e\n\ndef f(): ...") == ["@b", "@d", "@e"]


def test_a_long_prompt_is_searched_in_linear_time() -> None:
    import time

    began = time.process_time()
    for text in ("@" * 100_000, "`" * 100_000, "@a." * 50_000, "`a" * 50_000, "@x\n" * 30_000, "```\n" * 30_000):
        find_mentions(text)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("name", ["@df.price", "@In[-1]", '@file:"a b.txt"'])
@pytest.mark.parametrize("text", ["", "x", "```\nx\n````\n", "\n\n"])
def test_an_added_block_is_known_by_its_form(name: str, text: str) -> None:
    assert name_of_block(mention_block(fenced(text, 1_000, name))) == name


def test_what_was_added_is_told_from_what_was_said() -> None:
    added, picture = mention_block(fenced("x", 100, "@df")), ImageContent("AAAA", "image/png")
    assert split_content([TextContent("a"), picture, added, picture]) == ([TextContent("a"), picture], [added, picture])
    for said in ([added], [TextContent("a"), TextContent("```@df\nx\n```")], []):
        assert split_content(said) == (said, ())
