"""What Tab offers in cells of the agent, in the shell that completes; and that it leaves all other cells alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from IPython.core.completer import provisionalcompleter

import agent_magic as am
from agent_magic.notebook.commands import COMMANDS
from agent_magic.notebook.completion import LIMIT, AgentCompletion, add_completion
from agent_magic.notebook.flags import FLAGS
from agent_magic.notebook.namespace import Namespace

from ..speed import cpu_seconds, fastest


class Shell:
    """IPython's shell with completion added, asked as a front end asks."""

    def __init__(self, shell: Any, values: dict[str, Any]) -> None:
        self.shell = shell
        namespace = Namespace(values, {})
        self.remove = add_completion(shell, AgentCompletion(namespace, lambda: ["sales", "stock"]))

    def offered(self, cell: str, after: str = "") -> list[tuple[str, str]]:
        """The texts that Tab at the end of `cell` would make of its last line, and the kind of each."""
        with provisionalcompleter():
            found = list(self.shell.Completer.completions(cell + after, len(cell)))
        line = cell.rpartition("\n")[2]
        begin = len(cell) - len(line)
        return [((cell[: each.start] + each.text)[begin:], str(each.type)) for each in found]

    def lines(self, cell: str) -> list[str]:
        return [text for text, _ in self.offered(cell)]


@pytest.fixture
def values() -> dict[str, Any]:
    return {
        "df": pd.DataFrame({"price": [1], "place": ["a"], "two words": [2]}),
        "double": lambda x: 2 * x,
        "number": 3,
        "_private": 1,
        "mine": am.scripted("x"),
    }


@pytest.fixture
def tab(shell: Any, values: dict[str, Any]) -> Iterator[Shell]:
    added = Shell(shell, values)
    yield added
    added.remove()


def test_flags_are_offered_in_the_first_line_only(tab: Shell) -> None:
    assert tab.offered("%%agent --mod") == [("%%agent --model", "flag")]
    assert tab.lines("%%agent -m demo --max-to") == ["%%agent -m demo --max-tokens"]
    assert set(tab.lines("%%agent --")) == {f"%%agent {n}" for f in FLAGS for n in f.names if n.startswith("--")}
    assert "--model" not in str(tab.lines("%%agent\n--mod"))


def test_models_of_the_catalogue_and_of_the_notebook_are_offered_after_their_flag(tab: Shell) -> None:
    assert ("%%agent -m openai/gpt-5-mini", "model") in tab.offered("%%agent -m openai/gpt-5-m")
    assert ("%%agent --model=openai/gpt-5-mini", "model") in tab.offered("%%agent --model=openai/gpt-5-m")
    assert ("%%agent -m mine", "model") in tab.offered("%%agent -m mi")
    assert tab.lines("%%agent -m dem") == ["%%agent -m demo"]
    assert "%%agent -m openai/gpt-5-mini" in tab.lines("%%agent -m gpt-5-mi")


def test_tools_are_offered_one_after_the_other(tab: Shell) -> None:
    assert tab.offered("%%agent -t sa") == [("%%agent -t sales", "tool")]
    assert tab.lines("%%agent --tools sales,st") == ["%%agent --tools sales,stock"]


def test_levels_and_choices_are_offered_after_their_flags(tab: Shell) -> None:
    assert tab.lines("%%agent --thinking hi") == ["%%agent --thinking high"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%agent login gro", "%agent login groq"),
        ("%agent login groq --f", "%agent login groq --forget"),
        ("%agent approve sa", "%agent approve sales"),
        ("%agent approve for", "%agent approve forget"),
        ("%agent models lo", "%agent models local"),
        ("%agent autoload of", "%agent autoload off"),
        ("%agent config mention", "%agent config mention_seconds"),
        ("%agent retry --mod", "%agent retry --model"),
        ("%agent retry -m dem", "%agent retry -m demo"),
        ("%%agent --approve au", "%%agent --approve auto"),
        ("%%agent -i numb", "%%agent -i number"),
    ],
)
def test_each_subcommand_and_flag_offers_its_own_words(tab: Shell, line: str, offered: str) -> None:
    assert tab.lines(line) == [offered]


def test_subcommands_and_their_words_are_offered_after_percent_agent(tab: Shell) -> None:
    assert tab.offered("%agent hist") == [("%agent history", "subcommand")]
    assert set(tab.lines("%agent ")) >= {f"%agent {name}" for name in COMMANDS if name}
    assert tab.lines("%agent model dem") == ["%agent model demo"]
    assert "%agent model demo --save" in tab.lines("%agent model demo --s")
    assert set(tab.lines("%agent tools o")) == {"%agent tools on", "%agent tools off"}
    assert tab.lines("%agent tools off sa") == ["%agent tools off sales"]
    assert tab.lines("x = 1\n%agent hist") == ["%agent history"]


@pytest.mark.parametrize("before", ["%%agent ", "%%agent\nLook at ", "%agent look at ", "\n%%agent -m demo\n\n("])
def test_names_are_offered_with_their_kind_after_an_at_sign(tab: Shell, before: str) -> None:
    line = before.rpartition("\n")[2]
    assert tab.offered(f"{before}@d") == [(f"{line}@df", "DataFrame 1 × 3"), (f"{line}@double", "function")]
    assert tab.lines(f"{before}@df.p") == [f"{line}@df.price", f"{line}@df.place"]
    assert "_private" not in str(tab.lines(f"{before}@"))
    assert set(tab.lines(f"{before}@e")) == {f"{line}@error"}
    assert f"{line}@file:" in tab.lines(f"{before}@")


def test_files_are_offered_in_the_folder(tab: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").touch()
    monkeypatch.chdir(tmp_path)
    assert tab.offered("%%agent\n@file:da") == [("@file:data/", "folder")]
    assert tab.offered("%%agent\n@file:data/") == [("@file:data/x.csv", "file")]


@pytest.mark.parametrize(
    "cell",
    [
        "@d",
        "@pytest.ma",
        "x --mod",
        "%%timeit\n@d",
        "print('%%agent')\n@d",
        "# %agent\n@d",
        "%%agents --mod",
        "%agentx hist",
        "%%agent\nme@d",
        "%%agent\n@nobody",
        "%%agent\n-",
        "%%age",
        "",
    ],
)
def test_elsewhere_the_completions_are_those_of_ipython(shell: Any, values: dict[str, Any], cell: str) -> None:
    shell.Completer.use_jedi, before = False, shell.Completer.use_jedi
    try:
        added = Shell(shell, values)
        found = added.offered(cell)
        added.remove()
        with provisionalcompleter():
            assert len(found) == len(list(shell.Completer.completions(cell, len(cell))))
    finally:
        shell.Completer.use_jedi = before


def test_what_follows_the_cursor_does_not_matter(tab: Shell) -> None:
    assert tab.offered("%%agent\n@doub", after=" and more\n@df") == [("@double", "function")]


def test_nothing_is_left_when_it_is_removed(shell: Any, values: dict[str, Any]) -> None:
    before = list(shell.Completer.custom_matchers)
    added = Shell(shell, values)
    added.remove()
    added.remove()
    assert shell.Completer.custom_matchers == before


def test_a_value_that_fails_at_everything_is_offered_all_the_same(shell: Any) -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise RuntimeError(name)

    class Broken(metaclass=Meta):
        pass

    completion = AgentCompletion(Namespace({"broken": object.__new__(Broken), "kind": Broken}, {}), list)
    texts = [offer.text for offer in completion.offers("%%agent\n@", "@", 1).offers]
    assert texts[:2] == ["@broken", "@kind"]


@pytest.mark.parametrize("line", ["@", "@name_99", "@nobody", "prose without any", "@file:x"])
def test_ten_thousand_names_take_at_most_20_ms(line: str) -> None:
    values: dict[str, Any] = {f"name_{number}": [number] for number in range(10_000)}
    completion = AgentCompletion(Namespace(values, {}), list)
    assert len(completion.offers(f"%%agent\n{line}", line, 1).offers) <= LIMIT
    assert fastest(lambda: cpu_seconds(lambda: completion.offers(f"%%agent\n{line}", line, 1)), 0.02) <= 0.02


def test_models_take_at_most_20_ms_once_the_catalogue_is_read() -> None:
    completion = AgentCompletion(Namespace({}, {}), list)
    completion.offers("%%agent -m o", "%%agent -m o")

    def offer() -> None:
        completion.offers("%%agent -m openai", "%%agent -m openai")

    assert fastest(lambda: cpu_seconds(offer), 0.02) <= 0.02
