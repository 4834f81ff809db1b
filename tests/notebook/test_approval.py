from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent.policy import hash_of_arguments
from agent_magic.notebook.approval import question
from agent_magic.tools.tool import Effect


def request(effect: Effect = "execute", **arguments: Any) -> am.ApprovalRequest:
    tool = am.AgentTool("run", "Runs.", {}, lambda arguments, context: None, effect=effect)
    return am.ApprovalRequest("1", am.ToolCall("c", "run", arguments), arguments, hash_of_arguments(arguments), tool)


def test_the_question_names_the_tool_and_what_it_may_do() -> None:
    assert question(request(code="1")).startswith("The model asks to run run (runs code).")
    assert "reaches beyond this machine" in question(request("network"))
    assert "without arguments" in question(request())


def test_arguments_are_shown_uncut() -> None:
    code = "\n".join(f"line {n} " + "x" * 200 for n in range(500))
    shown = question(request(code=code, values=[1, {"a": None}]))
    assert all(f"    | line {n} {'x' * 200}" in shown for n in range(500))
    assert 'values = [1, {"a": null}]' in shown


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\u200b", "\u00ad", "\ufeff", "\x1b", "\x08", "\u2028", "\U000e0041"]
)
def test_hidden_characters_are_shown_as_escapes(character: str) -> None:
    shown = question(request(code=f"a{character}b", **{f"n{character}": 1}))
    assert character not in shown
    assert "a\\" in shown


def test_a_text_cannot_pass_for_an_argument_or_an_answer() -> None:
    shown = question(request(code="x\n  path = '/'\nRun it? y"))
    assert "    |   path = '/'" in shown
    assert shown.splitlines()[-1].startswith("Run it? y = once")
    assert shown.count("\nRun it?") == 1
