"""The panel over the comm of a real kernel: runs of its own beside the cells, in one conversation with them.

Numbers at the head of a test are those of user complaints about other notebook agents.
"""

from __future__ import annotations

import time

import pytest

from .kernel_client import Kernel, Message
from .page_client import subshell_of
from .panel_page import PanelPage, running

pytestmark = pytest.mark.kernel

# A PNG of one pixel.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def history(kernel: Kernel) -> list[str]:
    found: list[str] = eval(kernel.run("print([m.text for m in agent.messages])").printed)
    return found


# Runs in an idle kernel ----------------------------------------------------------------------------------------------


def test_a_run_of_the_panel_is_the_conversation_of_the_cells(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("answers('one', 'two', 'three')")
    count = int(kernel.run("print(get_ipython().agent_magic.kernel.runs.count)").printed)
    record = page.say("from the panel")
    assert record["state"] == "done"
    cell = kernel.run("%%agent\nfrom a cell")
    assert "two" in cell.text
    page.say("again")
    assert history(kernel) == ["from the panel", "one", "from a cell", "two", "again", "three"]
    assert "one" in kernel.run(f"%agent show {count + 1}").text


def test_a_run_of_a_cell_is_seen_in_the_panel_while_it_goes_on(page: PanelPage) -> None:
    """16: what a page sends arrives in any thread, and only hands over."""
    kernel = page.kernel
    kernel.run("answers([am.Delay(0.3), 'slow'])")
    kernel.run_all("%%agent\nhello", on_message=page.take)
    page.until(lambda: page.runs and page.run["state"] == "done")
    assert [item["text"] for item in page.run["items"]] == ["hello", "slow"]
    states = [event["state"]["busy"] for event in page.events if event["type"] == "state"]
    assert True in states
    page.until(lambda: page.state["busy"] is False)


def test_what_tools_print_and_show_is_in_their_cards(page: PanelPage) -> None:
    """19, 20, 21: output of what no cell began was dropped, or stood in another cell."""
    kernel = page.kernel
    kernel.run(
        "@tool\ndef plain(): print('from plain')\n"
        "@tool\nasync def later():\n    print('one')\n    await asyncio.sleep(0.05)\n    print('two')\n"
        "    from IPython.display import display, HTML\n    display(3)\n"
        "@tool(thread=True)\ndef aside():\n    print('from a thread', file=sys.stderr)\n"
        "    from IPython.display import display\n    display(4)\n"
    )
    kernel.run(
        "answers(am.AssistantMessage([am.ToolCall('a', 'plain', {}), am.ToolCall('b', 'later', {}), "
        "am.ToolCall('c', 'aside', {})]), 'done')"
    )
    kernel.run("print('a cell')")
    page.say("go")
    shown = {item["name"]: [output["text/plain"] for output in item.get("outputs", ())] for item in page.items("tool")}
    assert shown == {"plain": ["from plain\n"], "later": ["one\ntwo\n", "3"], "aside": ["from a thread\n", "4"]}
    assert kernel.run("print(type(sys.stdout).__module__)").printed.startswith("ipykernel")


def test_a_cell_that_runs_beside_it_keeps_its_own_output(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run(
        "@tool\nasync def later():\n    for _ in range(10):\n        print('tool')\n        await asyncio.sleep(0.05)\n"
    )
    kernel.run("answers(call('later'), 'done')")
    page.send("go")
    cell = kernel.run("for _ in range(8):\n    print('cell')\n    await asyncio.sleep(0.05)")
    assert cell.printed == "cell\n" * 8
    page.until(lambda: page.runs and page.run["state"] == "done")
    assert page.items("tool")[0]["outputs"] == [{"text/plain": "tool\n" * 10}]


def test_input_asks_nobody(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run(
        "@tool\ndef ask(): return input('name? ')\n@tool\nasync def ask2():\n    import getpass\n    getpass.getpass()"
    )
    kernel.run("answers(am.AssistantMessage([am.ToolCall('a', 'ask', {}), am.ToolCall('b', 'ask2', {})]), 'done')")
    record = page.say("go")
    assert record["state"] == "done"
    assert all("nobody to ask" in item["error"] for item in page.items("tool"))


def test_stop_by_the_kernel_ends_it(page: PanelPage) -> None:
    """22, 23: Stop waited for the answer, or did nothing."""
    kernel = page.kernel
    kernel.run("answers([am.Delay(20), 'late'])")
    page.send("hello")
    page.until(lambda: running(page) and page.run["items"])
    stopped = kernel.interrupt()
    page.until(lambda: not running(page))
    assert time.monotonic() - stopped < 3
    assert page.run["state"] == "aborted"
    assert kernel.run("print(agent.messages[-1].stop_reason)").printed == "aborted\n"
    kernel.run("answers('more')")
    assert page.say("go on")["state"] == "done"


def test_stop_by_request_ends_it_also_in_a_tool_that_blocks(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("answers([am.Delay(20), 'late'])")
    page.send("hello")
    page.until(lambda: running(page))
    page.ask("stop")
    page.until(lambda: not running(page))
    assert page.run["state"] == "aborted"


def test_stop_by_the_kernel_ends_a_tool_that_blocks(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("@tool\ndef block():\n    time.sleep(20)")
    kernel.run("answers(call('block'), 'late')")
    page.send("hello")
    page.until(lambda: running(page) and any(item["state"] == "running" for item in page.items("tool")))
    stopped = kernel.interrupt()
    page.until(lambda: not running(page))
    assert time.monotonic() - stopped < 5
    assert page.run["state"] == "aborted"


def test_stop_of_a_cell_that_outlives_the_run_still_arrives(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("answers([am.Delay(0.5), 'soon'])")
    page.send("hello")
    interrupted: list[float] = []

    def look(message: Message) -> None:
        page.take(message)
        if not interrupted and page.runs and page.run["state"] == "done":
            interrupted.append(kernel.interrupt())

    (cell,) = kernel.run_all("await asyncio.sleep(20)", on_message=look)
    assert cell.error is not None
    assert cell.error_time - interrupted[0] < 5
    # And an idle kernel is as deaf to it as ever.
    page.settle()
    kernel.interrupt()
    page.settle()
    assert kernel.run("print(1)").printed == "1\n"


def test_a_cell_waits_for_the_run_of_the_panel(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("answers([am.Delay(0.6), 'from the panel'], 'from the cell')")
    page.send("panel")
    cell = kernel.run("%%agent\nhi")
    assert cell.printed == "Another run of this agent is going on; this cell waits for its end.\n"
    assert history(kernel) == ["panel", "from the panel", "hi", "from the cell"]


def test_the_time_out_of_an_answer_pauses_while_a_cell_blocks(page: PanelPage) -> None:
    """The server is silent for less than the limit; the cell blocks for more."""
    kernel = page.kernel
    kernel.run(
        "import http.server\n"
        "class Slow(http.server.BaseHTTPRequestHandler):\n"
        "    def log_message(self, *more): pass\n"
        "    def do_POST(self):\n"
        "        self.rfile.read(int(self.headers['content-length']))\n"
        "        self.send_response(200); self.send_header('content-type', 'text/event-stream'); self.end_headers()\n"
        "        for text in 'abcde':\n"
        '            data = \'{"choices":[{"index":0,"delta":{"content":"\' + text + \'"}}]}\'\n'
        "            self.wfile.write(f'data: {data}\\n\\n'.encode()); self.wfile.flush(); time.sleep(0.4)\n"
        '        self.wfile.write(b\'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\\n\\n'
        "data: [DONE]\\n\\n')\n"
        "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Slow)\n"
        "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
        "agent.model = am.Model('m', base_url=f'http://127.0.0.1:{server.server_port}/v1', api_key='k')\n"
        "before = agent.config\nagent.config = before.replace(timeout=1.2, max_retries=0)"
    )
    page.send("hello")
    kernel.run_all(*["time.sleep(1.5)"] * 3, on_message=page.take)
    page.until(lambda: page.runs and page.run["state"] != "running")
    kernel.run("server.shutdown(); server.server_close(); agent.config = before")
    assert page.run["state"] == "done", page.run
    assert page.items("text")[0]["text"] == "abcde"


# While a run goes on --------------------------------------------------------------------------------------------------


def test_steering_a_run_of_a_cell(page: PanelPage) -> None:
    """15: what a page sent during a cell did nothing until it had ended."""
    kernel = page.kernel
    kernel.run("@tool\nasync def wait():\n    await asyncio.sleep(1.5)")
    kernel.run("answers(call('wait'), 'done')")
    sent: list[str] = []
    kernel.run_all("%%agent\nhello", on_message=page.sending_at("tool", "hurry", sent))
    assert page.answer_to(sent[0])["result"] == {"as": "steer"}
    said = history(kernel)
    assert (said[0], said[-2:]) == ("hello", ["hurry", "done"])
    page.until(lambda: page.run["state"] == "done")
    assert [item["text"] for item in page.items("user")] == ["hello", "hurry"]


def test_a_follow_up_waits_for_the_end_and_is_seen_to_wait(page: PanelPage) -> None:
    kernel = page.kernel
    kernel.run("answers([am.Delay(0.6), 'one'], 'two')")
    page.send("first")
    assert page.send("second", when="next") == "follow_up"
    page.until(lambda: page.state["queue"] == ["second"])
    page.until(lambda: page.run["state"] == "done")
    page.until(lambda: page.state["queue"] == [])
    assert history(kernel) == ["first", "one", "second", "two"]
    assert len(page.runs) == 1


@pytest.mark.parametrize("method", ["new", "undo", "retry", "resume", "fork", "edit"])
def test_what_moves_the_conversation_is_refused_during_a_run(page: PanelPage, method: str) -> None:
    page.kernel.run("answers([am.Delay(5), 'one'])")
    page.send("first")
    params = {"session": "x", "run": "x", "text": "x"}
    assert "Stop it first" in page.refusal(method, **params)
    page.ask("stop")
    page.until(lambda: not running(page))


def test_looking_and_choosing_work_during_a_run(page: PanelPage) -> None:
    page.kernel.run("answers([am.Delay(5), 'one'])\ndf = [1, 2]")
    page.send("first")
    assert "df" in [each["name"] for each in page.ask("variables")["variables"]]
    assert page.ask("models", filter="gpt-5")["models"]
    assert isinstance(page.ask("sessions", filter="")["sessions"], list)
    page.ask("set_tool", name="run_python", on=True)
    page.until(lambda: {tool["name"]: tool["on"] for tool in page.state["tools"]}["run_python"])
    page.ask("set_tool", name="run_python", on=False)
    page.ask("stop")
    page.until(lambda: not running(page))


# Subshells ------------------------------------------------------------------------------------------------------------


def test_messages_that_name_a_subshell_are_handled_as_those_that_do_not(page: PanelPage) -> None:
    """16, 17: callbacks ran in another thread and another loop, and figures were damaged."""
    kernel = page.kernel
    page.subshell = subshell_of(kernel)
    try:
        kernel.run(
            "@tool\ndef where():\n    return [threading.current_thread() is threading.main_thread(), "
            "asyncio.get_running_loop() is get_ipython().kernel.io_loop.asyncio_loop]"
        )
        kernel.run("answers(call('where'), 'done', [am.Delay(20), 'late'])")
        page.say("go")
        assert page.items("tool")[0]["result"] == "[true, true]"
        page.send("again")
        page.until(lambda: running(page))
        page.ask("stop")
        page.until(lambda: not running(page))
    finally:
        page.subshell = None


def test_stop_reaches_a_tool_that_blocks_by_a_subshell(page: PanelPage) -> None:
    kernel = page.kernel
    subshell = subshell_of(kernel)
    kernel.run("@tool\ndef block():\n    time.sleep(20)\nanswers(call('block'), 'late')")
    page.send("hello")
    page.until(lambda: running(page) and any(item["state"] == "running" for item in page.items("tool")))
    page.subshell = subshell
    try:
        began = time.monotonic()
        if subshell is None:
            # What the page does where its message would not arrive.
            kernel.interrupt()
        else:
            page.ask("stop")
        page.until(lambda: not running(page))
        assert time.monotonic() - began < 5
    finally:
        page.subshell = None
    assert page.run["state"] == "aborted"


def test_a_page_reaches_a_run_whose_cell_cannot_await(page: PanelPage) -> None:
    """15: while a cell blocked, nobody was heard."""
    kernel = page.kernel
    page.subshell = subshell_of(kernel)
    assert page.subshell is not None
    kernel.run("answers([am.Delay(0.8), 'one'], 'two')")
    sent: list[str] = []

    try:
        kernel.run_all("%%time\n%%agent\nhello", on_message=page.sending_at("user", "hurry", sent))
    finally:
        page.subshell = None
    assert page.answer_to(sent[0])["result"] == {"as": "steer"}
    assert history(kernel) == ["hello", "one", "hurry", "two"]
    page.until(lambda: page.run["state"] == "done")


# Approval -------------------------------------------------------------------------------------------------------------


def test_a_question_is_answered_in_the_panel_with_all_arguments_shown(page: PanelPage) -> None:
    """32: an approval showed only a title."""
    kernel = page.kernel
    kernel.run("@tool(effect='execute')\ndef drop(table: str, why: str = ''):\n    return 'gone: ' + table")
    kernel.run("answers(call('drop', table='sales', why='old\\nand long'), 'done')")
    page.send("go")
    page.until(lambda: page.runs and page.items("approval"))
    (question,) = page.items("approval")
    assert question["arguments"] == {"table": "sales", "why": "old\nand long"}
    assert 'table = "sales"' in question["text"]
    assert "    | and long" in question["text"]
    where = {"run": page.run["run"], "approval": question["id"]}
    page.ask("shown", **where)
    other = page.beside("other")
    other.attach()
    answer = {**where, "decision": "once", "reason": "", "hash": question["hash"]}
    refused = other.refusal("answer", **answer, arguments={"table": 1})
    assert "table" in refused
    edited = {"table": "copy", "why": ""}
    other.ask("answer", **answer, arguments=edited)
    assert "answered already" in page.refusal("answer", **answer, arguments=None)
    page.until(lambda: page.run["state"] == "done")
    assert page.items("tool")[0]["result"].endswith("\ngone: copy")


def test_rich_results_are_the_same_in_a_cell_and_in_the_panel(page: PanelPage) -> None:
    """30, 31: streaming lost images, and showed results twice."""
    kernel = page.kernel
    kernel.run(f"import base64\npicture = base64.b64decode({PICTURE!r})")
    kernel.run(
        "from IPython.display import Image, display\n"
        "@tool\ndef draw():\n    display(Image(data=picture))\n    return {'a': [1, 2]}"
    )
    asked = (
        "answers(am.AssistantMessage([am.ThinkingContent('<thinking>so</thinking>'), "
        "am.ToolCall('c1', 'draw', {})]), 'done')"
    )
    kernel.run(asked)
    panel = page.say("go")
    kernel.run(asked)
    cell = kernel.run("%%agent\ngo").record
    kept = ("kind", "state", "text", "name", "result", "outputs", "summary")
    assert [{name: item[name] for name in kept if name in item} for item in panel["items"]] == [
        {name: item[name] for name in kept if name in item} for item in cell["items"]
    ]
    assert "image/png" in panel["items"][2]["outputs"][0]
    assert panel["items"][1]["text"] == "<thinking>so</thinking>"


# Complaints -----------------------------------------------------------------------------------------------------------


def test_one_output_a_run_however_many_tools_show_something(page: PanelPage) -> None:
    """29: many rich outputs made the notebook scroll badly."""
    kernel = page.kernel
    kernel.run(f"import base64\npicture = base64.b64decode({PICTURE!r})")
    kernel.run("@tool\ndef draw():\n    from IPython.display import Image, display\n    display(Image(data=picture))")
    calls = ", ".join(f"am.ToolCall('c{number}', 'draw', {{}})" for number in range(6))
    kernel.run(f"answers(am.AssistantMessage([{calls}]), 'done')")
    cell = kernel.run("%%agent\ngo")
    assert len(cell.of_type("display_data")) == 1
    assert [len(item.get("outputs", ())) for item in cell.record["items"] if item["kind"] == "tool"] == [1] * 6


def test_it_needs_no_port_no_child_process_and_little_memory() -> None:
    """60: helper processes were left behind, a fixed port kept a server from starting, 1.3 GB before a message."""
    look = (
        "import psutil\nme = psutil.Process()\n"
        "print(sorted({c.laddr.port for c in me.net_connections('inet') if c.status == 'LISTEN'}), "
        "len(me.children(recursive=True)))"
    )
    with Kernel() as bare:
        ports = eval(bare.run(look).printed.split("] ")[0] + "]")
        before = int(bare.run("print(me.memory_info().rss)").printed)
        other = PanelPage(bare)
        other.load()
        other.attach()
        assert other.say("hello")["state"] == "done"
        after = bare.run(look).printed
        assert eval(after.split("] ")[0] + "]") == ports
        assert after.endswith("] 0\n")
        assert int(bare.run("print(me.memory_info().rss)").printed) - before < 100_000_000
