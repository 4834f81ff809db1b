"""Conversations are kept as they grow, and the subcommands go between them.

Numbers at the head of a test are those of user complaints about other notebook agents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook.extension import load, unload
from agent_magic.session.session import Session

from .kernel_client import Kernel


def restart(shell: Any, *names: str) -> None:
    """As a new kernel would be: the extension anew, and without these names."""
    unload(shell)
    for name in names:
        shell.user_ns.pop(name, None)
    load(shell)


def say(shell: Any, *lines: str) -> None:
    for line in lines:
        shell.run_cell(line).raise_error()


def told(shell: Any, capsys: Any, line: str) -> str:
    capsys.readouterr()
    say(shell, line)
    return str(capsys.readouterr().out).strip()


def texts(shell: Any) -> list[str]:
    return [each.text for each in shell.agent_magic.kernel.agent.messages]


def answering(shell: Any, *answers: Any, **more: Any) -> None:
    shell.user_ns["m"] = am.scripted(*answers).replace(**more)
    shell.agent_magic.kernel.choose_model("m")


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl")) if folder.exists() else []


# Where and when a file appears ----------------------------------------------------------------------------------------


def test_the_first_message_of_the_user_begins_the_file(fresh: Any, data: Path) -> None:
    """54: conversations were gone after a restart."""
    answering(fresh, "one", "two", "three")
    say(fresh, "%agent", "%agent new")
    assert files(data) == []
    say(fresh, "%agent hello", "%agent again")
    (path,) = files(data)
    with Session.open(path, read_only=True) as session:
        assert [each.text for each in session.messages] == ["hello", "one", "again", "two"]
    say(fresh, "%agent new", "%agent third")
    assert len(files(data)) == 2


def test_sessions_lie_beside_the_notebook_or_nowhere_where_the_setting_says_so(
    fresh: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "work" / "sales.ipynb"))
    (tmp_path / "work").mkdir()
    say(fresh, '%config AgentMagic.sessions = "notebook"')
    answering(fresh, "one", "two")
    say(fresh, "%agent hello")
    (path,) = files(tmp_path / "work" / ".agent_magic" / "sessions")
    assert Session.open(path, read_only=True).header.notebook == str(tmp_path / "work" / "sales.ipynb")
    say(fresh, '%config AgentMagic.sessions = "off"', "%agent new", "%agent -o reply again")
    assert files(data) == []
    assert len(files(path.parent)) == 1
    assert fresh.agent_magic.kernel.runs[2]["session"] is None
    assert fresh.agent_magic.kernel.runs[1]["session"] == Session.open(path, read_only=True).id


def test_an_agent_that_outlives_the_extension_keeps_nothing_more(fresh: Any, data: Path, caplog: Any) -> None:
    answering(fresh, "one", "two")
    say(fresh, "%agent hello")
    agent = am.get_agent()
    unload(fresh)
    assert agent.run("again").text == "two"
    assert caplog.records == []
    (path,) = files(data)
    assert len(Session.open(path).messages) == 2


# The tree -------------------------------------------------------------------------------------------------------------


def test_undo_and_retry_move_in_the_tree_and_lose_nothing(fresh: Any, data: Path) -> None:
    answering(fresh, "one", "two", "three")
    say(fresh, "%agent hello", "%agent again", "%agent undo")
    assert texts(fresh) == ["hello", "one"]
    say(fresh, "%agent retry")
    assert texts(fresh) == ["hello", "three"]
    with Session.open(files(data)[0], read_only=True) as session:
        assert [each.text for each in session.messages] == ["hello", "three"]
        kept = [entry.message.text for entry in session.tree if entry.type == "message"]
    assert kept == ["hello", "one", "again", "two", "hello", "three"]


def test_messages_that_the_user_assigns_are_followed(fresh: Any, data: Path) -> None:
    answering(fresh, "one", "two", "three")
    say(fresh, "%agent hello", "%agent again")
    agent = am.get_agent()
    agent.messages = agent.messages[:2]
    say(fresh, "%agent third")
    assert texts(fresh) == ["hello", "one", "third", "three"]
    with Session.open(files(data)[0], read_only=True) as session:
        assert [each.text for each in session.messages] == texts(fresh)
    agent.messages.clear()
    say(fresh, "%agent !echo hi")
    assert [each.role for each in kept(fresh, data)] == ["bashExecution"]


def kept(shell: Any, data: Path) -> tuple[Any, ...]:
    """What the only file holds."""
    shell.agent_magic.kernel.conversation.session.flush()
    (path,) = files(data)
    return Session.open(path, read_only=True).messages


def test_a_command_of_the_user_is_kept_without_keys(fresh: Any, data: Path) -> None:
    from agent_magic.providers.keys import login

    answering(fresh, "one", "two")
    say(fresh, "%agent hello")
    login("openai", "sk-of-nobody-1234567890")
    try:
        say(fresh, "%agent !echo sk-of-nobody-1234567890", "%agent what did it say?")
    finally:
        login("openai", None)
    assert "sk-of-nobody" not in files(data)[0].read_text().replace("echo sk-of-nobody-1234567890", "")
    assert [each.role for each in kept(fresh, data)] == ["user", "assistant", "bashExecution", "user", "assistant"]


def test_edit_puts_the_message_into_the_next_cell_as_it_was_written(fresh: Any) -> None:
    answering(fresh, "one", "two")
    fresh.user_ns["x"] = 5
    say(fresh, "%agent hello", "%%agent\n$x {y} %z of @x\n  indented")
    say(fresh, "%agent edit")
    assert fresh.rl_next_input == "%%agent\n$x {y} %z of @x\n  indented"
    assert texts(fresh) == ["hello", "one"]


# Going between them ---------------------------------------------------------------------------------------------------


def test_resume_goes_on_and_tells_what_is_missing(fresh: Any, data: Path, capsys: Any) -> None:
    """55: a restored conversation spoke of variables that the new kernel does not have."""

    @am.tool
    def sales(region: str) -> int:
        return 7

    say(fresh, "%agent tools on run_python")
    fresh.user_ns["df"] = 3
    code = am.ToolCall("2", "run_python", {"code": "total = 5\nimport json as j\nfor part in [1]: kept = part"})
    answering(fresh, [am.ToolCall("1", "sales", {"region": "EU"})], [code], "done")
    fresh.user_ns["sales"] = sales
    say(fresh, "%agent --approve auto How is @df in the EU?")
    restart(fresh, "df", "sales", "total", "j", "part")
    answering(fresh, "more", "again")
    said = told(fresh, capsys, "%agent resume")
    assert "How is @df" in said
    note = am.get_agent().messages[-1]
    assert note.role == "custom"
    for name in ("`df`", "`total`", "`j`", "`part`", "`sales`", "`run_python`"):
        assert (name in note.text) == (name != "`run_python`"), name
        assert (name in said) == (name != "`run_python`"), name
    assert "`kept`" not in note.text
    say(fresh, "%agent and now?")
    assert texts(fresh)[-2:] == ["and now?", "more"]
    say(fresh, "%agent undo")
    assert am.get_agent().messages[-1].text == note.text
    assert len(files(data)) == 1
    # Resumed again at once, it is told once.
    restart(fresh)
    say(fresh, "%agent resume")
    assert [each.role for each in am.get_agent().messages].count("custom") == 1


def test_the_session_of_this_notebook_goes_before_one_that_was_used_later(
    fresh: Any, data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    for name in ("mine", "other"):
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / f"{name}.ipynb"))
        restart(fresh)
        answering(fresh, "one")
        say(fresh, f"%agent I am {name}")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "mine.ipynb"))
    restart(fresh)
    assert "I am mine" in told(fresh, capsys, "%agent resume")
    listed = told(fresh, capsys, "%agent sessions")
    assert next(line for line in listed.splitlines() if line.startswith("*")).endswith("I am mine   mine.ipynb")
    assert "I am other  other.ipynb" in listed
    assert "I am mine" not in told(fresh, capsys, "%agent sessions OTHER")
    assert "I am other" in told(fresh, capsys, "%agent resume I am other")


def test_a_session_that_another_kernel_has_can_be_forked(fresh: Any, data: Path, capsys: Any) -> None:
    with Session.new(data) as held:
        held.append(am.UserMessage("held elsewhere"))
        held.append(am.AssistantMessage("yes"))
        held.flush()
        with pytest.raises(am.SessionLockedError, match=f"go on in a copy: %agent fork {held.id[:8]}$"):
            say(fresh, f"%agent resume {held.id}")
        answering(fresh, "one")
        say(fresh, f"%agent fork {held.id[:8]}", "%agent go on")
    assert texts(fresh)[:2] == ["held elsewhere", "yes"]
    assert texts(fresh)[-2:] == ["go on", "one"]
    with Session.open(held.path or "", read_only=True) as session:
        assert len(session.messages) == 2
    assert len(files(data)) == 2


def test_tab_offers_the_other_sessions(fresh: Any, data: Path) -> None:
    from agent_magic.notebook.completion import AgentCompletion

    answering(fresh, "one", "two")
    say(fresh, "%agent hello", "%agent new")
    kernel = fresh.agent_magic.kernel
    completion = AgentCompletion(kernel.namespace, kernel.known_tools, kernel.session_ids)
    (path,) = files(data)
    with Session.open(path, read_only=True) as session:
        offers = completion.offers("%agent resume ", "%agent resume ").offers
        assert offers[0].text == session.id[:8]


def test_a_fork_leaves_the_conversation_as_it_was(fresh: Any, data: Path) -> None:
    answering(fresh, "one", "two")
    say(fresh, "%agent hello")
    (path,) = files(data)
    say(fresh, "%agent fork", "%agent in the copy")
    assert len(Session.open(path, read_only=True).messages) == 2
    (other,) = [each for each in files(data) if each != path]
    assert Session.open(other, read_only=True).header.parent_session == str(path)
    assert texts(fresh) == ["hello", "one", "in the copy", "two"]


def test_what_goes_elsewhere_is_refused_during_a_run(fresh: Any) -> None:
    refused: list[str] = []

    async def busy(arguments: Any, context: Any) -> str:
        for line in ("new", "undo", "resume x", "fork", "edit", "compact", "export x.md", "!echo hi"):
            with pytest.raises(am.AgentBusyError):
                fresh.agent_magic.line(line)
            refused.append(line.split()[0])
        return "tried"

    answering(fresh, [am.ToolCall("1", "busy", {})], "done")
    am.get_agent().tools = [am.AgentTool("busy", "", {}, busy, effect="read")]
    say(fresh, "%agent go")
    assert refused == ["new", "undo", "resume", "fork", "edit", "compact", "export", "!echo"]
    assert [each.role for each in am.get_agent().messages] == ["user", "assistant", "toolResult", "assistant"]


@pytest.mark.parametrize("form", ["md", "html", "json", "jsonl"])
def test_an_export_holds_the_whole_conversation(fresh: Any, tmp_path: Path, form: str) -> None:
    @am.tool
    def sales(region: str) -> str:
        return f"<b>7</b> in {region}"

    answering(
        fresh, ["Let me see.", am.ToolCall("1", "sales", {"region": "EU"})], "It is **seven**.", "<script>no</script>"
    )
    fresh.user_ns["sales"] = sales
    say(fresh, "%agent How many & why?", "%agent And now?")
    path = tmp_path / f"kept.{form}"
    say(fresh, f"%agent export {path}")
    text = path.read_text(encoding="utf-8")
    messages = list(fresh.agent_magic.kernel.conversation.session.messages)
    for part in ("Let me see.", "seven", "And now?", "sales"):
        assert part in text
    if form == "html":
        assert "&lt;b&gt;7&lt;/b&gt; in EU" in text
        assert "<script" not in text
    if form == "json":
        assert am.messages_from_json(json.loads(text)["messages"]) == messages
    if form == "jsonl":
        assert list(Session.open(path, read_only=True).messages) == messages
    with pytest.raises(Exception, match="exists already"):
        say(fresh, f"%agent export {path}")
    with pytest.raises(Exception, match="tells its form"):
        say(fresh, f"%agent export {tmp_path / 'x.txt'}")


# Budget and cost ------------------------------------------------------------------------------------------------------

PRICES = am.ModelCost(input=1_000, output=1_000)


def test_a_budget_holds_for_the_whole_conversation_also_after_a_restart(fresh: Any) -> None:
    say(fresh, "%config AgentMagic.token_budget = 2000")
    answering(fresh, *["word " * 200] * 9)
    with pytest.raises(am.BudgetExceededError):
        say(fresh, *["%agent go on"] * 8)
    spent = am.get_agent().usage.total_tokens
    assert 0 < spent <= 2000
    unload(fresh)
    load(fresh)
    say(fresh, "%config AgentMagic.token_budget = 2000")
    answering(fresh, *["word " * 200] * 9)
    say(fresh, "%agent resume")
    assert am.get_agent().usage.total_tokens == spent
    with pytest.raises(am.BudgetExceededError):
        say(fresh, "%agent go on")
    say(fresh, "%agent new", "%agent once more")


def test_cost_tells_of_a_resumed_conversation_per_model_and_tool(fresh: Any, capsys: Any) -> None:
    @am.tool
    def sales(region: str) -> int:
        return 7

    fresh.user_ns["sales"] = sales
    answering(fresh, [am.ToolCall("1", "sales", {"region": "EU"})], "one", cost=PRICES)
    say(fresh, "%agent go")
    before = told(fresh, capsys, "%agent cost")
    restart(fresh)
    say(fresh, "%agent resume")
    after = told(fresh, capsys, "%agent cost")
    assert after.splitlines()[:2] == before.splitlines()[:2]
    assert after.splitlines()[-1] == before.splitlines()[-1]
    assert "sales" in after


# Compaction -----------------------------------------------------------------------------------------------------------


def test_a_long_conversation_is_compacted_with_a_note_in_the_record(fresh: Any) -> None:
    answering(fresh, *["word " * 400] * 8, "the summary", *["word " * 400] * 8, context_window=6_000)
    while len(fresh.agent_magic.kernel.runs.numbers) < 12 and not noted(fresh):
        say(fresh, "%agent go on")
    (note,) = noted(fresh)
    assert "A summary stands for its older part" in note
    assert am.get_agent().messages[0].role == "compactionSummary"
    assert list(fresh.agent_magic.kernel.conversation.session.messages) == am.get_agent().messages


def noted(shell: Any) -> list[str]:
    runs = shell.agent_magic.kernel.runs
    items = [item for number in runs.numbers for item in runs[number]["items"]]
    return [item["text"] for item in items if item["kind"] == "note" and "summary" in item["text"]]


def test_an_overflow_is_compacted_once_and_the_user_sees_one_run(fresh: Any) -> None:
    """53: an overflow in the middle of a run ended it."""
    long = "word " * 2_000
    answering(fresh, long, long, am.ContextOverflowError("too long"), "the summary", "its turn", "recovered")
    say(fresh, "%agent one", "%agent two", "%agent -o reply three")
    assert fresh.user_ns["reply"].text == "recovered"
    assert len(noted(fresh)) == 1
    assert noted(fresh)[0].startswith("The conversation did not fit")


def test_compact_takes_a_focus_and_says_what_it_did(fresh: Any, capsys: Any) -> None:
    asked: list[str] = []

    def summary(context: Any, config: Any) -> str:
        asked.append(context.messages[-1].text)
        return "the summary"

    answering(fresh, *["word " * 9_000] * 3, summary, "its turn", "after")
    say(fresh, *["%agent go on"] * 3)
    said = told(fresh, capsys, "%agent compact the prices")
    assert "A summary stands for its older part" in said
    assert "the prices" in asked[0]
    assert am.get_agent().messages[0].role == "compactionSummary"
    say(fresh, "%agent go on")
    assert am.get_agent().messages[-1].text == "after"


def test_demo_is_asked_for_no_summary(fresh: Any, capsys: Any) -> None:
    say(fresh, "%agent model demo")
    assert "can write no summary" in told(fresh, capsys, "%agent compact")


def test_compaction_can_be_switched_off(fresh: Any) -> None:
    say(fresh, "%config AgentMagic.compaction = False")
    answering(fresh, *["word " * 400] * 12, context_window=6_000)
    say(fresh, *["%agent go on"] * 10)
    assert len(am.get_agent().messages) == 20


# A disk that fails ----------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_told_once_and_the_run_goes_on(fresh: Any, data: Path) -> None:
    data.parent.mkdir(parents=True)
    data.write_text("a file where the folder should be")
    answering(fresh, "one", "two")
    say(fresh, "%agent hello", "%agent again")
    assert texts(fresh) == ["hello", "one", "again", "two"]
    runs = fresh.agent_magic.kernel.runs
    notes = [[item["text"] for item in runs[number]["items"] if item["kind"] == "note"] for number in (1, 2)]
    assert [len(each) for each in notes] == [1, 0]
    assert "could not be written" in notes[0][0]
    data.unlink()
    say(fresh, "%agent !echo hi")
    fresh.agent_magic.kernel.conversation.session.flush()
    assert len(kept(fresh, data)) == 5


# In real kernels ------------------------------------------------------------------------------------------------------

START = "%load_ext agent_magic\nimport agent_magic as am"


@pytest.mark.kernel
def test_a_restarted_kernel_goes_on_with_its_conversation(tmp_path: Path) -> None:
    notebook = {"AGENT_MAGIC_DATA": str(tmp_path), "JPY_SESSION_NAME": str(tmp_path / "n.ipynb")}
    with Kernel(**notebook) as kernel:
        kernel.run(f"{START}\nm = am.scripted('It is 5.')\ndf = 5\n%agent model m")
        first = kernel.run("%%agent\nWhat is @df?")
        assert first.error is None
    with Kernel(**notebook) as kernel:
        kernel.run(f"{START}\nm = am.scripted(lambda context, config: context.messages[-2].text)\n%agent model m")
        resumed = kernel.run("%agent resume")
        assert "What is @df?" in resumed.printed
        assert "`df`" in resumed.printed
        second = kernel.run("%%agent\nAnd now?")
    assert second.error is None
    assert "Not defined here: `df`" in second.text
    assert second.record["session"] == first.record["session"]


@pytest.mark.kernel
def test_a_kernel_that_is_killed_has_lost_nothing_that_it_showed_as_done(tmp_path: Path) -> None:
    work = (
        "import asyncio\n"
        "@am.tool\nasync def work(n: int):\n    await asyncio.sleep(0.02)\n    return f'result {n}.'\n"
        "m = am.scripted(*[[f'answer {n}.', am.ToolCall(str(n), 'work', {'n': n})] for n in range(1000)])"
    )
    shown: list[dict[str, Any]] = []
    kernel = Kernel(AGENT_MAGIC_DATA=str(tmp_path))
    try:
        kernel.run(f"{START}\n{work}\n%agent model m")

        def look(message: dict[str, Any]) -> None:
            if message["msg_type"] in ("display_data", "update_display_data"):
                shown.append(message["content"]["data"])
                if len(shown) == 8:
                    kernel.manager.provisioner.process.kill()

        with pytest.raises(AssertionError, match="did not come to rest"):
            kernel.run_all("%%agent\nGo on and on", on_message=look, timeout=5)
    finally:
        kernel.close()
    seen = str(shown[-1]["text/plain"])
    done = [n for n in range(1000) if f"result {n}." in seen]
    assert done
    with Kernel(AGENT_MAGIC_DATA=str(tmp_path)) as again:
        again.run(
            f"{START}\nm = am.scripted(lambda context, config: 'I have: ' + ' '.join(m.text for m in context.messages))"
        )
        assert "work" in again.run("%agent resume\n%agent model m").printed
        answer = again.run("%%agent --no-tools -o reply\nWhat have you got?")
        assert answer.error is None
        has = again.run("print(reply.text)").printed
    assert [n for n in done if f"result {n}." not in has] == []
