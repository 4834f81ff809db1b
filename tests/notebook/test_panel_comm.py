"""The comm of the panel in a real kernel: how pages and the agent find each other, and what is left when they part.

Numbers at the head of a test are those of user complaints about other notebook agents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_magic.notebook.record import RECORD_TYPE

from .kernel_client import Kernel, Message
from .panel_page import SETUP, PanelPage, running

pytestmark = pytest.mark.kernel


# Attaching -----------------------------------------------------------------------------------------------------------


def test_loading_opens_the_comm_and_shows_nothing() -> None:
    with Kernel() as kernel:
        page = PanelPage(kernel)
        cell = page.load()
        assert page.events == [{"type": "hello", "protocol": 1, "version": "0.1.0"}]
        assert [message["msg_type"] for message in cell.messages if message["msg_type"] != "status"] == [
            "execute_input",
            "comm_open",
        ]
        loaded = kernel.run("import sys\nprint('agent_magic.notebook.chat' in sys.modules, 'httpx' in sys.modules)")
        assert loaded.printed == "False False\n"


def test_the_comm_is_opened_for_nobody_before_a_page_may_be_there() -> None:
    """Who runs a notebook without a page allows no input, and warns of a comm that he does not know."""
    with Kernel() as kernel:
        page = PanelPage(kernel)
        for _ in range(2):
            assert not kernel.run("%load_ext agent_magic", page=False).of_type("comm_open")
            assert not kernel.run("%agent panel", page=False).of_type("comm_open")
        assert page.find().comm == ""
        assert len(kernel.run("1", answers=(), on_message=page.take).of_type("comm_open")) == 1
        assert not kernel.run("1", answers=()).of_type("comm_open")
        assert page.attach()["state"]["busy"] is False


def test_the_comm_is_opened_for_a_page_that_loads_the_extension_itself() -> None:
    with Kernel() as kernel:
        assert not kernel.run("%load_ext agent_magic", page=False).of_type("comm_open")
        kernel.client.execute("%load_ext agent_magic", silent=True, allow_stdin=False)
        page = PanelPage(kernel).find()
        assert page.attach()["state"]["busy"] is False


def test_attach_tells_the_state_and_what_was_said(page: PanelPage) -> None:
    assert page.state["busy"] is False
    assert page.state["run"] is None
    assert {tool["name"]: tool["on"] for tool in page.state["tools"]}["run_python"] is False
    page.kernel.run("answers('one')")
    page.say("hello")
    page.kernel.run("answers('two')")
    page.kernel.run("%%agent\nagain")
    result = page.attach()
    said = [[(item["kind"], item["text"]) for item in record["items"]] for record in result["runs"]]
    assert said == [[("user", "hello"), ("text", "one")], [("user", "again"), ("text", "two")]]
    assert result["earlier"] == 0
    assert result["state"]["session"]["title"] == "hello"


def test_another_protocol_is_told_what_to_update(page: PanelPage) -> None:
    said = page.refusal("attach", page=page.name, protocol=2, kind="panel")
    assert "Update agent_magic where the kernel runs" in said
    said = page.refusal("attach", page=page.name, protocol=0, kind="panel")
    assert "where JupyterLab runs" in said


def test_a_page_that_was_loaded_anew_finds_the_run_that_goes_on(page: PanelPage) -> None:
    page.kernel.run("answers([am.Delay(1.5), 'late'])")
    page.send("hello")
    again = PanelPage(page.kernel, "again").find()
    assert again.comm == page.comm
    result = again.attach()
    assert result["state"]["busy"] is True
    assert result["runs"] == []
    again.until(lambda: again.runs)
    assert [item["text"] for item in again.ended(result["state"]["run"])["items"]] == ["hello", "late"]


def test_a_page_that_came_during_the_run_of_a_cell_is_given_its_record(page: PanelPage) -> None:
    """It drops what is published for a display that it has not seen."""
    kernel = page.kernel
    kernel.run("answers([am.Delay(0.6), 'late'])")
    kernel.run("get_ipython().get_parent = lambda: {'metadata': {'cellId': 'c7'}}")
    given: list[tuple[str, Any]] = []
    again = page.beside("in mid-run")
    again.on_ask = lambda method, params: given.append((method, params)) or {}
    page.on_ask = lambda method, params: pytest.fail(f"{method} was asked of a page that was there")
    attached: list[str] = []

    def come(message: Message) -> None:
        page.take(message)
        again.take(message)
        if page.runs and not attached:
            attached.append(again.post("attach", page=again.name, protocol=1, kind="panel", notebook=page.notebook))

    kernel.run_all("%%agent\nhello", on_message=come)
    again.until(lambda: given)
    [(method, params)] = given
    assert (method, params["id"]) == ("set_outputs", "c7")
    assert str(params["execution_count"] + 1) == kernel.run("print(get_ipython().execution_count)").printed.strip()
    [output] = params["outputs"]
    assert output["output_type"] == "display_data"
    assert output["data"][RECORD_TYPE]["state"] == "done"
    assert output["data"][RECORD_TYPE]["run"] == params["run"]
    assert "late" in output["data"]["text/html"]
    # One that was loaded again meanwhile, and attaches only now.
    later = page.beside("later")
    later.on_ask = lambda method, params: given.append((method, params)) or {}
    for each in (page, again, later, later):
        each.attach()
        each.settle(0.3)
    assert given[1:] == [(method, params)]
    # Until the cell runs anew, and not for ever.
    kernel.run("answers([am.Delay(0.6), 'anew'], 'once more')\nfrom agent_magic.notebook import late_pages")
    again.name = "third"
    page.runs.clear()
    attached.clear()
    kernel.run_all("%%agent\nhello", on_message=come)
    again.settle()
    assert ["anew" in str(params["outputs"]) for _, params in given[2:]] == [True]
    kernel.run("late_pages.KEPT = 0.0")
    kernel.run_all("%%agent\nhello", on_message=page.take)
    kernel.run("late_pages.KEPT = 60.0")
    later.name = "fourth"
    later.attach()
    later.settle()
    assert len(given) == 3


def test_a_page_that_does_not_know_the_comm_takes_it_from_nobody(page: PanelPage) -> None:
    client = page.kernel.client
    client.shell_channel.send(client.session.msg("comm_close", {"comm_id": page.comm, "data": {}}))
    other = PanelPage(page.kernel, "other").find()
    assert other.comm == page.comm
    assert other.attach()["protocol"] == 1


def test_a_page_is_told_what_keeps_it_from_the_agent(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("from agent_magic.notebook.kernel import NotebookKernel as K")
    kernel.run("whole, K.chat = K.chat, property(lambda kernel: 1 / 0)")
    kernel.run("panel = get_ipython().agent_magic.panel; known, panel._connection = panel._connection, None")
    assert "division by zero" in page.refusal("variables")
    kernel.run("K.chat = whole")
    kernel.run("panel._connection = known")
    assert page.ask("variables")["variables"]
    assert "could not be made" in "".join(each["content"]["text"] for each in page.strays), "it is logged"
    page.strays.clear()


def test_a_second_load_announces_the_agent_where_no_page_has_attached() -> None:
    with Kernel() as kernel:
        page = PanelPage(kernel)
        kernel.run("%load_ext agent_magic")
        again = "import agent_magic\nagent_magic.load_ipython_extension(get_ipython())"
        kernel.run_all(again, on_message=page.take)
        first = page.comm
        assert page.attach()["protocol"] == 1
        kernel.run_all(again, on_message=page.take)
        assert page.comm == first
        kernel.run_all("%unload_ext agent_magic", on_message=page.take)
        assert page.comm == ""
        assert page.find().comm == ""
        page.load()
        assert page.attach()["runs"] == []


def test_a_restart_begins_anew_and_two_notebooks_are_two_kernels(page: PanelPage) -> None:
    """18: a second kernel used what belonged to the first."""
    with Kernel() as kernel:
        other = PanelPage(kernel, notebook="work/other.ipynb")
        other.load()
        kernel.run(SETUP)
        other.attach()
        kernel.run("answers('of the other')")
        page.kernel.run("answers('of this')")
        assert other.say("hi")["items"][-1]["text"] == "of the other"
        assert page.say("hi")["items"][-1]["text"] == "of this"
        assert other.state["session"]["id"] != page.state["session"]["id"]
        kernel.restart()
        other.comm = ""
        other.load()
        assert other.attach()["runs"] == []


# The widget -----------------------------------------------------------------------------------------------------------


def test_am_panel_is_the_same_chat_and_leaves_words_behind(page: PanelPage) -> None:
    kernel = page.kernel
    widget = PanelPage(kernel, "widget", kind="widget")
    (cell,) = kernel.run_all("chat = am.panel()\nchat", on_message=widget.take, answers=())
    assert set(cell.bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain", "text/html"}
    assert cell.displays[0]["content"]["transient"]["display_id"]
    widget.attach()
    assert "renderChat" in widget.ask("code")["code"]
    kernel.run("answers('one')")
    assert page.say("hi")["state"] == "done"
    widget.until(lambda: page.run["run"] in widget.runs or widget.runs)
    (cell,) = kernel.run_all("chat.close()", on_message=widget.take)
    assert set(cell.bundle) == {"text/plain", "text/html"}
    assert cell.text.startswith("Here was a chat")
    assert widget.comm == ""


def test_unloading_takes_away_what_was_open() -> None:
    with Kernel() as kernel:
        widget = PanelPage(kernel, "widget", kind="widget")
        kernel.run("%load_ext agent_magic")
        kernel.run_all("import agent_magic\na, b = agent_magic.panel(), agent_magic.panel()\ndisplay(a, b)")
        gone = kernel.run("%unload_ext agent_magic")
        assert [sorted(message["content"]["data"]) for message in gone.of_type("update_display_data")] == [
            ["text/html", "text/plain"]
        ] * 2
        assert kernel.client.comm_info("jupyter.widget", reply=True, timeout=10)["content"]["comms"] == {}
        assert "There is no agent of this kernel yet" in kernel.run("agent_magic.panel()").error["evalue"]  # type: ignore[index]
        assert widget.comm == ""


def test_the_line_opens_the_panel_or_says_where_it_is() -> None:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic")
        assert "agent_magic.panel()" in kernel.run("%agent panel").printed
        page = PanelPage(kernel).find()
        page.attach()
        asked: list[str] = []
        page.on_ask = lambda method, params: asked.append(method) or {}
        assert kernel.run("%agent panel", on_message=page.take).printed.startswith("The panel is open")
        page.until(lambda: asked == ["open_panel"])
        page.ask("detach")
        client = kernel.client
        client.shell_channel.send(client.session.msg("comm_close", {"comm_id": page.comm, "data": {}}))
        page.settle()
        assert kernel.run("%agent panel").printed.startswith("The page has no panel")


def test_unloading_stops_the_run_of_the_panel_and_loading_goes_on() -> None:
    with Kernel() as kernel:
        page = PanelPage(kernel)
        page.load()
        kernel.run(SETUP)
        kernel.run("answers([am.Delay(20), 'late'])")
        page.attach()
        page.send("hello")
        page.until(lambda: running(page))
        kernel.run_all("old = agent\n%unload_ext agent_magic", on_message=page.take)
        assert kernel.run("await old.wait_for_idle()\nprint(old.state.stop_cause)").printed == "aborted\n"
        page.load()
        kernel.run(SETUP)
        kernel.run("answers('one')")
        page.attach()
        assert page.say("hello")["state"] == "done"
        assert page.strays == []


def test_an_agent_that_is_loaded_with_the_kernel_is_found(tmp_path: Path) -> None:
    profile = tmp_path / "profile_default"
    profile.mkdir()
    config = {"InteractiveShellApp": {"extensions": ["agent_magic"]}}
    (profile / "ipython_kernel_config.json").write_text(json.dumps(config))
    with Kernel(IPYTHONDIR=str(tmp_path)) as kernel:
        page = PanelPage(kernel).find()
        page.attach()
        assert page.say("What can you do?")["state"] == "done"
        assert page.strays == []
