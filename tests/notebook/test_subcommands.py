"""The subcommands of `%agent` one by one: without arguments, with good ones and with bad ones."""

import json
import re
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am


class Line:
    """Types `%agent ...` and gives what it printed."""

    def __init__(self, shell: Any, capture: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capture = capture

    def __call__(self, line: str) -> str:
        self._capture.readouterr()
        self.shell.run_line_magic("agent", line)
        return self._capture.readouterr().out


@pytest.fixture
def agent(loaded: Any, capsys: pytest.CaptureFixture[str]) -> Line:
    am.get_agent().model = am.scripted("one", "two", "three")
    return Line(loaded, capsys)


def texts() -> list[str]:
    return [message.text for message in am.get_agent().messages]


# undo, retry, show ----------------------------------------------------------------------------------------------------


def test_undo_takes_back_the_last_message_and_all_after_it(agent: Line) -> None:
    assert agent("undo") == "There is no message of yours in the conversation.\n"
    agent("first")
    agent("second")
    assert agent("undo") == "Taken back: second\n2 messages are left.\n"
    assert texts() == ["first", "one"]
    assert agent("undo").endswith("0 messages are left.\n")
    assert texts() == []


def test_retry_asks_the_same_again_images_included(agent: Line, loaded: Any) -> None:
    assert "no message of yours" in agent("retry")
    loaded.user_ns["picture"] = b"\x89PNG\r\n\x1a\n" + b"x" * 20
    agent("-i picture look")
    (before,) = [message for message in am.get_agent().messages if message.role == "user"]
    agent("retry")
    assert texts() == ["look", "two"]
    assert am.get_agent().messages[0] is before
    assert [block.type for block in before.content] == ["text", "image"]


def test_retry_takes_flags_for_the_new_answer_and_no_text(agent: Line, loaded: Any) -> None:
    agent("hello")
    loaded.user_ns["other"] = am.scripted("from another")
    agent("retry -m other")
    assert texts() == ["hello", "from another"]
    with pytest.raises(UsageError, match=r"Usage: %agent retry \[FLAGS\].*%agent -- retry it once more"):
        agent("retry it once more")
    with pytest.raises(UsageError, match="Did you mean --model"):
        agent("retry --modle x")
    with pytest.raises(am.UnknownModelError):
        agent("retry -m openai/gpt-5-minni")
    assert texts() == ["hello", "from another"]


def test_show_draws_any_run_of_this_kernel_again(agent: Line) -> None:
    assert agent("show") == "This kernel has shown no run yet.\n"
    agent("hello")
    agent("again")
    assert agent("show").startswith("You: again\n\ntwo\n")
    assert agent("show 1").startswith("You: hello\n\none\n")
    with pytest.raises(UsageError, match=r"There is no run 3\. Runs 1 to 2 are there"):
        agent("show 3")
    for bad in ("show x", "show -1", "show 1 2", "show ²"):
        with pytest.raises(UsageError, match=r"Usage: %agent show \[N\]"):
            agent(bad)


def test_only_the_last_fifty_runs_are_kept() -> None:
    from agent_magic.notebook.runs import Runs

    runs = Runs()
    for number in range(60):
        runs.add({"run": number})
    assert (runs.numbers[0], runs.numbers[-1]) == (11, 60)
    assert runs[11] == {"run": 10}
    for missing in (0, 10, 61, -1):
        with pytest.raises(IndexError):
            runs[missing]


# context and cost -----------------------------------------------------------------------------------------------------


def test_context_tells_what_fills_the_window(agent: Line) -> None:
    assert "how many the model takes is not known" in agent("context")
    am.get_agent().model = am.scripted("one").replace(context_window=10_000)
    agent("word " * 1000)
    shown = agent("context")
    assert re.search(r"system prompt +[\d,]+ tokens", shown)
    assert re.search(r"your messages +1 +1,25\d tokens", shown)
    assert re.search(r"█+░+ [\d.]+ % of 10,000 tokens, about [\d,]+ in all", shown)
    with pytest.raises(UsageError, match="Usage: %agent context"):
        agent("context now")


def test_a_full_window_does_not_burst_its_bar(agent: Line) -> None:
    am.get_agent().model = am.scripted("one").replace(context_window=10)
    bar = agent("context").splitlines()[-1].split()[0]
    assert bar == "█" * 30


def test_cost_counts_by_model_and_tool_until_the_conversation_is_forgotten(agent: Line, loaded: Any) -> None:
    assert "Nothing was spent" in agent("cost")
    loaded.run_cell("from agent_magic import tool\n@tool\ndef f(n: int):\n    '''F.'''\n    return 1 // n")
    calls = am.AssistantMessage([am.ToolCall("1", "f", {"n": 1}), am.ToolCall("2", "f", {"n": 0})])
    am.get_agent().model = am.scripted(calls, "done")
    agent("hello")
    agent("undo")
    shown = agent("cost")
    assert re.search(r"^scripted/scripted +2 ", shown, re.MULTILINE)
    assert re.search(r"^f +2 +1 +\d", shown, re.MULTILINE)
    assert f"in all: {am.get_agent().usage.total_tokens:,} tokens, $0.00" in shown
    agent("new")
    assert "Nothing was spent" in agent("cost")
    with pytest.raises(UsageError, match="Usage: %agent cost"):
        agent("cost x")


def test_an_unknown_price_is_a_question_mark_and_never_nothing() -> None:
    from agent_magic.events import MessageEndEvent
    from agent_magic.notebook.ledger import Ledger

    ledger = Ledger()
    ledger.handle(MessageEndEvent(am.AssistantMessage("x", model="m", usage=am.Usage(10, 5))))
    assert ledger.total.total_tokens == 15
    assert ledger.total.cost is None


# config, model --------------------------------------------------------------------------------------------------------


def test_config_lists_every_setting_with_value_and_meaning(agent: Line, loaded: Any) -> None:
    from agent_magic.notebook.settings import AgentMagic

    loaded.run_line_magic("config", "AgentMagic.max_turns = 7")
    shown = agent("config")
    loaded.config.pop("AgentMagic", None)
    for name, trait in AgentMagic.class_traits(config=True).items():
        assert f"AgentMagic.{name} = " in shown
        assert trait.help
        assert trait.help in shown
    assert "AgentMagic.max_turns = 7  (default 50)" in shown
    assert "c.AgentMagic.max_turns = ... in " in shown
    one = agent("config temperature")
    assert "AgentMagic.temperature = None" in one
    assert "max_turns" not in one
    with pytest.raises(UsageError, match=r"There is no setting temprature\. Did you mean temperature"):
        agent("config temprature")
    with pytest.raises(UsageError, match=r"Usage: %agent config \[NAME\]"):
        agent("config max_turns 3")


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("thinking = 'loud'", "takes one of off, minimal"),
        ("max_turns = 0", "should not be less than 1"),
        ("temperature = -1.0", "should not be less than 0"),
        ("max_tokens = 'many'", "expected an int"),
        ("model = 'openai/x-1'", "openai has no model"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_and_changes_nothing(
    loaded: Any, setting: str, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent = am.get_agent()
    settings = loaded.agent_magic.kernel.settings
    before = (agent.thinking_level, agent.loop_config.max_turns, agent.config, agent.model, settings.model)
    try:
        loaded.run_line_magic("config", f"AgentMagic.{setting}")
    finally:
        # IPython keeps it for whatever reads its config later.
        loaded.config.pop("AgentMagic", None)
    assert error in caplog.text
    after = (agent.thinking_level, agent.loop_config.max_turns, agent.config, agent.model, settings.model)
    assert after == before


def test_a_model_of_the_namespace_is_not_saved_for_other_kernels(agent: Line, loaded: Any) -> None:
    loaded.user_ns["mine"] = am.scripted("x")
    with pytest.raises(UsageError, match="mine is a variable of this notebook"):
        agent("model mine --save")
    assert "scripted" in agent("model mine")


def test_saving_a_model_tells_that_the_environment_goes_before_it(
    agent: Line, loaded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    path = Path(loaded.profile_dir.location, "ipython_config.json")
    monkeypatch.setenv("AGENT_MAGIC_MODEL", "demo")
    try:
        assert "AGENT_MAGIC_MODEL goes before it" in agent("model openai/gpt-5-mini --save")
        path.write_text("{broken")
        with pytest.raises(am.AgentMagicError, match="nothing was changed"):
            agent("model openai/gpt-5 --save")
        assert path.read_text() == "{broken"
    finally:
        path.unlink()


# flags that change one run --------------------------------------------------------------------------------------------


def test_flags_reach_the_request_and_only_this_one(agent: Line) -> None:
    seen: list[Any] = []

    def look(context: Any, config: Any) -> str:
        seen.append(config)
        return "ok"

    am.get_agent().model = am.scripted(look, look).replace(reasoning=True)
    agent("--max-tokens 99 --temperature 0.25 --thinking low hi")
    agent("hi")
    assert (seen[0].max_tokens, seen[0].temperature, seen[0].thinking_level) == (99, 0.25, "low")
    assert (seen[1].max_tokens, seen[1].temperature, seen[1].thinking_level) == (None, None, None)


def test_quiet_shows_nothing_and_gives_the_reply(agent: Line, loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    reply = loaded.run_line_magic("agent", "--quiet hi")
    assert capsys.readouterr().out == ""
    assert reply.text == "one"
    assert agent("show").startswith("You: hi")


def test_a_budget_is_checked_before_the_request(agent: Line) -> None:
    asked: list[Any] = []

    def look(context: Any, config: Any) -> str:
        asked.append(config.max_tokens)
        return "ok"

    priced = am.scripted(look).replace(cost=am.ModelCost(1, 10, 0, 0))
    am.get_agent().model = priced
    agent("--budget 0.01 hi")
    assert asked[0] is not None
    assert asked[0] <= 1000
    am.get_agent().model = am.scripted(look)
    with pytest.raises(am.BudgetExceededError, match="It was not sent"):
        agent("--token-budget 300 hi")
    assert len(asked) == 1


def test_a_budget_in_dollars_needs_a_price(agent: Line) -> None:
    am.get_agent().model = am.scripted("x").replace(cost=None)
    with pytest.raises(am.InvalidDataError, match="price is not known"):
        agent("--budget 1 hi")


RISKY = (
    "from agent_magic import tool\nran = []\n@tool(effect='execute')\ndef risky():\n    '''R.'''\n    ran.append(1)\n"
    "@tool\ndef reads():\n    '''R.'''\n    ran.append(2)\n"
)


@pytest.mark.parametrize(
    ("flag", "answers", "ran"),
    [
        ("--approve auto", [], [1, 2]),
        ("--approve deny", [], [2]),
        ("--approve ask", ["y", "n not this"], [1]),
        ("--approve ask", ["a", "y"], [1, 2]),
        ("", ["n"], [2]),
    ],
)
def test_approve_is_the_policy_of_this_cell(
    agent: Line, loaded: Any, flag: str, answers: list[str], ran: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded.run_cell(RISKY)
    left = list(answers)
    monkeypatch.setattr("builtins.input", lambda question: left.pop(0))
    both = am.AssistantMessage([am.ToolCall("1", "risky", {}), am.ToolCall("2", "reads", {})])
    am.get_agent().model = am.scripted(both, "ok")
    agent(f"{flag} hi")
    assert loaded.user_ns["ran"] == ran
    assert not left


def test_auto_allows_nothing_that_the_kernel_denies(agent: Line, loaded: Any) -> None:
    loaded.run_cell(RISKY)
    am.get_agent().policy = am.Policy({"user": {"execute": "deny"}}, "allow")
    am.get_agent().model = am.scripted(am.AssistantMessage([am.ToolCall("1", "risky", {})]), "ok")
    agent("--approve auto hi")
    assert loaded.user_ns["ran"] == []


def test_help_is_the_docstring_and_fits_the_page(agent: Line, loaded: Any) -> None:
    shown = agent("help")
    assert loaded.find_cell_magic("agent").__doc__ == shown.removesuffix("\n")
    assert max(map(len, shown.splitlines())) <= 120
    assert json.dumps(shown).isascii()
