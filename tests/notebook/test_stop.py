"""Stop in a real kernel: it ends what runs, closes the connection and keeps queued cells from running."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ..loopback import listening_socket
from .kernel_client import Cell, Kernel

pytestmark = pytest.mark.kernel

PROMPTLY = 0.3

SETUP = """
import time
import agent_magic as am
from agent_magic import tool
agent = am.get_agent()

def call(name, **arguments):
    return am.AssistantMessage([am.ToolCall("c1", name, arguments)])

@tool
def busy(context: am.ToolContext):
    '''Computes.'''
    context.on_update("GO")
    while True:
        pass

@tool
def sleepy(context: am.ToolContext):
    '''Sleeps.'''
    context.on_update("GO")
    time.sleep(20)

@tool
def stubborn(context: am.ToolContext):
    '''Swallows every interrupt.'''
    context.on_update("GO")
    try:
        time.sleep(20)
    except BaseException:
        pass
    return "done"

@tool
async def waiting(context: am.ToolContext):
    '''Waits.'''
    import asyncio
    context.on_update("GO")
    await asyncio.sleep(20)
"""


class Server:
    """Answers every chat request with "GO" and then nothing; knows when the client hung up."""

    def __init__(self) -> None:
        self.closed: list[float] = []
        self.loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._started.wait(5)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._answer, sock=listening_socket()))
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        self.loop.run_forever()
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-length")
        )
        await reader.readexactly(length)
        event = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"GO"}}]}\n\n'
        chunk = b"%x\r\n%s\r\n" % (len(event), event)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" + chunk
        )
        await writer.drain()
        await reader.read(1)
        self.closed.append(time.monotonic())
        writer.close()

    def closed_by(self, end: float) -> bool:
        """Whether the client has hung up by that time."""
        while not self.closed and time.monotonic() < end:
            time.sleep(0.01)
        return bool(self.closed) and self.closed[0] < end

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def running(server: Server) -> Iterator[Kernel]:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic")
        assert kernel.run(SETUP).status == "ok"
        kernel.run(f"hanging = am.Model('hanging', base_url='http://127.0.0.1:{server.port}/v1', api_key='none')")
        yield kernel


@pytest.fixture
def kernel(running: Kernel) -> Kernel:
    running.run("%agent new")
    return running


def stop_at_go(kernel: Kernel, *codes: str) -> tuple[list[Cell], float]:
    """Run the cells and press Stop a little after the first one shows GO; also returns when."""
    pressed: list[float] = []

    def press(message: dict[str, Any]) -> None:
        shown = message["content"].get("data", {}).get("text/plain", "")
        if not pressed and "GO" in shown:
            time.sleep(0.2)
            pressed.append(kernel.interrupt())

    cells = kernel.run_all(*codes, on_message=press)
    return cells, pressed[0]


def stop_promptly(kernel: Kernel, prepare: Callable[[], object], *codes: str) -> tuple[list[Cell], float]:
    """The same, after `prepare`; again where it took longer, a few times: the machine may be busy with other work."""
    for _ in range(8):
        prepare()
        cells, pressed = stop_at_go(kernel, *codes)
        if cells[0].error is None or cells[0].error_time - pressed < PROMPTLY:
            break
    return cells, pressed


def assert_stopped(cell: Cell, pressed: float) -> None:
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert cell.error["traceback"] == ["KeyboardInterrupt: The agent was stopped."]
    assert cell.error_time - pressed < PROMPTLY
    assert cell.record["state"] == "aborted"


def assert_next_works(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted('back again')")
    assert "back again" in kernel.run("%%agent\nhi").text


@pytest.mark.parametrize("before", ["", "%%time\n"], ids=["await", "nested"])
def test_stop_while_streaming_closes_the_connection(kernel: Kernel, server: Server, before: str) -> None:
    def prepare() -> None:
        server.closed.clear()
        kernel.run("agent.model = hanging")

    (cell, after), pressed = stop_promptly(kernel, prepare, before + "%%agent\nhi", "print('ran on')")
    if before:
        assert cell.error is not None
        assert cell.error_time - pressed < PROMPTLY
    else:
        assert_stopped(cell, pressed)
    assert after.status == "aborted"
    assert server.closed_by(pressed + 10 * PROMPTLY)
    assert "GO" in cell.text
    assert_next_works(kernel)


@pytest.mark.parametrize("before", ["", "%%time\n"], ids=["await", "nested"])
@pytest.mark.parametrize("tool", ["sleepy", "busy", "stubborn", "waiting"])
def test_stop_while_a_tool_runs(kernel: Kernel, tool: str, before: str) -> None:
    def prepare() -> None:
        kernel.run(f"agent.model = am.scripted(call('{tool}'), 'never asked')")

    (cell, after), pressed = stop_promptly(kernel, prepare, before + "%%agent\nhi", "print('ran on')")
    assert cell.error is not None
    assert cell.error_time - pressed < PROMPTLY
    assert cell.record["state"] == "aborted"
    assert after.status == "aborted"
    (item,) = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert item["state"] == "aborted"
    assert (
        kernel.run("print(agent.messages[-1].role, agent.messages[-1].text)").printed
        == "toolResult Operation aborted\n"
    )
    assert_next_works(kernel)


def test_stop_while_a_question_waits(kernel: Kernel) -> None:
    kernel.run("@tool(effect='execute')\ndef danger():\n    '''D.'''\nagent.model = am.scripted(call('danger'), 'no')")
    pressed: list[float] = []

    def press(message: dict[str, Any]) -> None:
        if not pressed and "waiting" in message["content"].get("data", {}).get("text/plain", ""):
            time.sleep(0.3)
            pressed.append(kernel.interrupt())

    (cell,) = kernel.run_all("%%agent\nhi", on_message=press, answers=())
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert_next_works(kernel)


def test_stop_of_agent_run_in_a_plain_cell_is_a_keyboard_interrupt(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(call('sleepy'), 'no')")
    threading.Timer(1.0, kernel.interrupt).start()
    cell, after = kernel.run_all("agent.run('hi')", "print('ran on')")
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert after.status == "aborted"
    assert_next_works(kernel)


def test_abort_from_another_thread_ends_a_tool_on_the_main_thread(kernel: Kernel) -> None:
    kernel.run("import threading\nagent.model = am.scripted(call('busy'), 'no')")
    began = time.monotonic()
    cell = kernel.run("threading.Timer(0.5, agent.abort).start()\nr = get_ipython().run_cell('%%agent\\nhi')")
    assert time.monotonic() - began < 10
    assert cell.record["state"] == "aborted"
    kernel.run("agent.model = am.scripted(call('busy'), 'no'); threading.Timer(0.5, agent.abort).start()")
    cell = kernel.run("%%agent\nhi")
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"


def test_a_stop_between_runs_touches_nothing(kernel: Kernel) -> None:
    kernel.interrupt()
    time.sleep(0.1)
    assert_next_works(kernel)
