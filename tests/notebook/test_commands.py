from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am
from agent_magic.notebook.commands import COMMANDS, command_of, one_edit_apart


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("modl", "model", True),
        ("modell", "model", True),
        ("modle", "model", True),
        ("nodel", "model", True),
        ("model", "model", True),
        ("ne", "new", True),
        ("now", "new", True),
        ("nwe", "new", True),
        ("mdoel", "model", True),
        ("mold", "model", False),
        ("elmod", "model", False),
        ("", "new", False),
        ("n", "new", False),
        ("history", "help", False),
    ],
)
def test_one_edit_is_one_letter_more_less_or_other_or_two_swapped(one: str, other: str, near: bool) -> None:
    assert one_edit_apart(one, other) is near
    assert one_edit_apart(other, one) is near


@pytest.mark.parametrize(
    ("line", "name", "words"),
    [
        ("", "", []),
        ("  ", "", []),
        ("model", "model", []),
        ("model a/b --save", "model", ["a/b", "--save"]),
        ("model 'my model'", "model", ["my model"]),
        ("tools off sales", "tools", ["off", "sales"]),
        ("history", "history", []),
    ],
)
def test_a_line_that_begins_with_a_subcommand_is_one(line: str, name: str, words: list[str]) -> None:
    found = command_of(line)
    assert found is not None
    assert (found[0].name, list(found[1])) == (name, words)


@pytest.mark.parametrize(
    "line",
    ["hello", "what is new?", "now do the same for the US", "-- model", "-m demo hi", "Model it", "it's", "explain 1"],
)
def test_everything_else_is_a_message(line: str) -> None:
    if line == "Model it":
        with pytest.raises(UsageError, match="Did you mean %agent model"):
            command_of(line)
    else:
        assert command_of(line) is None


@pytest.mark.parametrize("line", ["modl", "tool x", "histroy", "helpp", "nwe", "retyr"])
def test_a_short_line_one_edit_away_is_refused_with_advice(line: str) -> None:
    with pytest.raises(UsageError, match=rf"Did you mean %agent \w+\? To send the line as a message: %agent -- {line}"):
        command_of(line)


@pytest.mark.parametrize(
    "line",
    [
        "model a b",
        "model --force",
        "model a --save --save",
        "tools on",
        "tools maybe x",
        "tools on a b",
        "history 3",
        "new x",
        "help me",
    ],
)
def test_wrong_arguments_are_a_usage_error_that_shows_the_usage(loaded: Any, line: str) -> None:
    with pytest.raises(UsageError, match=f"Usage: %agent {line.split()[0]}.*%agent -- {line}"):
        loaded.run_line_magic("agent", line)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name])
def test_every_subcommand_works_without_arguments(loaded: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    loaded.run_line_magic("agent", name)
    assert capsys.readouterr().out.strip()


def test_the_state_names_model_tools_history_and_use(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    loaded.run_line_magic("agent", "")
    fresh = capsys.readouterr().out
    assert "demo: built in, offline, no real model" in fresh
    assert "write @tool above a function" in fresh
    assert "empty" in fresh
    loaded.run_cell("from agent_magic import tool\n@tool\ndef count(n: int):\n    '''Counts.'''")
    am.get_agent().model = am.scripted("yes")
    loaded.run_line_magic("agent", "hello")
    loaded.run_line_magic("agent", "tools off count")
    capsys.readouterr()
    loaded.run_line_magic("agent", "")
    shown = capsys.readouterr().out
    assert "2 messages" in shown
    assert "(off: run_python, shell, read_file, write_file, count)" in shown
    assert "tokens, $0.00" in shown


def test_history_is_one_line_each_and_shows_no_control_characters(
    loaded: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    am.get_agent().model = am.scripted("an\x1b[31m answer\nof two lines")
    loaded.run_line_magic("agent", "hello")
    capsys.readouterr()
    loaded.run_line_magic("agent", "history")
    assert capsys.readouterr().out == "  1 you       hello\n  2 model     an answer of two lines\n"


def test_history_tells_why_an_answer_failed(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    am.get_agent().model = am.scripted(am.AuthenticationError("No key for it."))
    with pytest.raises(am.AuthenticationError):
        loaded.run_line_magic("agent", "hello")
    capsys.readouterr()
    loaded.run_line_magic("agent", "history")
    assert capsys.readouterr().out == "  1 you       hello\n  2 model     [failed: No key for it.]\n"


def test_an_unknown_tool_is_refused_with_near_names(loaded: Any) -> None:
    loaded.run_cell("from agent_magic import tool\n@tool\ndef sales():\n    '''Sales.'''")
    with pytest.raises(UsageError, match="Did you mean sales"):
        loaded.run_line_magic("agent", "tools off sale")
