"""The widget of a run, spoken to as a page does, in a kernel of each environment of `test_matrix`.

`make matrix` runs these too. Whether a kernel hears a page while a cell runs depends on its version: through a
subshell from ipykernel 7 on, and beside a cell that awaits from 7.4 on. Elsewhere the page gets HTML.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from agent_magic.notebook.record import RECORD_TYPE
from agent_magic.notebook.run_widget import WIDGET_TYPE

from .kernel_client import Cell, Kernel
from .page_client import Page, open_widgets, size_of, subshell_of
from .test_matrix import PYTHONS, name_of

pytestmark = pytest.mark.kernel

# Seconds.
STOPPED = 0.3

SETUP = """
import time
import ipykernel
import agent_magic as am
from agent_magic import tool
agent = am.get_agent()

def call(name, **arguments):
    return am.AssistantMessage([am.ToolCall("c1", name, arguments)])

def slowly(tokens, seconds):
    pause = am.Delay(seconds / tokens)
    return [part for number in range(tokens) for part in (f"word{number % 10} ", pause)]

@tool
def sleepy(context: am.ToolContext):
    '''Sleeps.'''
    context.on_update("GO")
    time.sleep(20)

@tool
def nap():
    '''Naps.'''
    time.sleep(3)

@tool(effect="execute")
def danger(path: str, times: int = 1):
    '''Removes.'''
    return f"removed {path} {times}"
"""


def version_of(python: str) -> tuple[int, ...]:
    """Of its ipykernel."""
    code = "import importlib.metadata as m; print(m.version('ipykernel'))"
    text = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, text.split(".")[:2]))


VERSIONS = {python: version_of(python) for python in PYTHONS}
MAIN = [(python, "main") for python in PYTHONS]
SUBSHELL = [(python, "subshell") for python in PYTHONS if VERSIONS[python] >= (7, 0)]
RECENT = [place for place in MAIN if VERSIONS[place[0]] >= (7, 0)]
HEARD = [*(place for place in MAIN if VERSIONS[place[0]] >= (7, 4)), *SUBSHELL]
# Where a page's messages are not heard until the cell has ended, and by what kind of cell.
UNHEARD = [
    *((*place, "%%agent\nhi") for place in MAIN if place not in HEARD),
    *((*place, "%%time\n%%agent\nhi") for place in MAIN),
]


def ids(places: list[Any]) -> list[str]:
    return [f"{name_of(place[0])}-{place[1]}" for place in places]


# A page whose messages go to this place is heard: while a cell awaits, and also while the main thread is busy.
heard = pytest.mark.parametrize("place", HEARD, indirect=True, ids=ids(HEARD))
heard_while_busy = pytest.mark.parametrize("place", SUBSHELL, indirect=True, ids=ids(SUBSHELL))
everywhere = pytest.mark.parametrize("place", MAIN, indirect=True, ids=ids(MAIN))
# Older kernels hear no page while a cell runs, so they open no widget.
with_widgets = pytest.mark.parametrize("place", RECENT, indirect=True, ids=ids(RECENT))


@dataclass
class Place:
    kernel: Kernel
    shell: str | None


@pytest.fixture(scope="module")
def kernels() -> Iterator[Callable[[str], Kernel]]:
    """Starts a kernel of an interpreter at its first use."""
    running: dict[str, Kernel] = {}

    def kernel_of(python: str) -> Kernel:
        if python not in running:
            kernel = running[python] = Kernel(python)
            assert kernel.run("%load_ext agent_magic").status == "ok"
            assert kernel.run(SETUP).status == "ok"
            # anywidget is imported, so that no test waits for that.
            kernel.run_all("%%agent\nhi", answers=())
        return running[python]

    yield kernel_of
    for kernel in running.values():
        kernel.close()


@pytest.fixture
def place(request: pytest.FixtureRequest, kernels: Callable[[str], Kernel]) -> Place:
    python, way = request.param[:2]
    kernel = kernels(python)
    kernel.run("%agent new")
    return Place(kernel, subshell_of(kernel) if way == "subshell" else None)


@pytest.fixture
def kernel(place: Place) -> Kernel:
    return place.kernel


@pytest.fixture
def shell(place: Place) -> str | None:
    """Where a page's messages go."""
    return place.shell


def run(kernel: Kernel, code: str, page: Page, answers: tuple[str, ...] = (), timeout: float = 30) -> Cell:
    (cell,) = kernel.run_all(code, on_message=page, on_silence=page.wait, answers=answers, timeout=timeout)
    return cell


def assert_frozen(kernel: Kernel, cell: Cell) -> None:
    assert set(cell.bundle) == {
        "application/vnd.agent-magic.run+json",
        "text/html",
        "text/markdown",
        "text/plain",
    }
    assert not open_widgets(kernel)


@heard
def test_a_page_that_attaches_is_sent_what_changes_and_then_the_record(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(slowly(40, 1.0))")
    page = Page(kernel, shell)
    cell = run(kernel, "%%agent\nhi", page)
    assert cell.status == "ok"
    assert page.attached is not None
    assert (page.attached["protocol"], page.attached["run"]["record"]["state"]) == (1, "running")
    assert len(page.events("deltas")) >= 5
    # A page that was loaded again knows the display no more, so it has to learn the end from its widget.
    assert page.record == cell.record
    first, *others = cell.displays
    assert first["content"]["data"][WIDGET_TYPE]["model_id"] == page.comm
    assert "text/html" in first["content"]["data"]
    # What a page makes of it that opens a notebook saved in mid-run, when the widget is no more.
    assert first["content"]["data"][RECORD_TYPE]["state"] == "running"
    assert first["content"]["data"][RECORD_TYPE]["run"] == cell.record["run"]
    assert len(others) == 1, "while a page follows the widget, the display is left alone"
    assert page.closed
    assert_frozen(kernel, cell)


@heard
def test_a_page_that_missed_a_message_asks_for_a_snapshot(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(slowly(40, 1.0))")
    seen: list[int] = []

    def loses(message: dict[str, Any]) -> bool:
        seen.append(1 if message["type"] == "deltas" else 0)
        return message["type"] == "deltas" and sum(seen) == 4

    page = Page(kernel, shell, loses=loses)
    cell = run(kernel, "%%agent\nhi", page)
    snapshots = [each for each in page.responses.values() if "record" in each.get("result", {})]
    assert len(snapshots) == 1
    assert page.record["items"][-1]["text"] == cell.record["items"][-1]["text"][: len(page.record["items"][-1]["text"])]
    assert len(page.record["items"][-1]["text"]) > len(snapshots[0]["result"]["record"]["items"][-1]["text"])


@with_widgets
def test_a_page_that_does_not_attach_is_shown_html(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(slowly(40, 1.5))")
    page = Page(kernel, attaches=None)
    cell = run(kernel, "%%agent\nhi", page)
    first, *others = cell.displays
    assert WIDGET_TYPE in first["content"]["data"]
    live = others[:-1]
    assert 3 <= len(live) <= 12
    assert not any(WIDGET_TYPE in each["content"]["data"] for each in others)
    assert not any(RECORD_TYPE in each["content"]["data"] for each in live)
    assert "word1" in live[0]["content"]["data"]["text/html"]
    assert live[0]["_time"] - first["_time"] < 1.5
    assert not page.messages
    assert_frozen(kernel, cell)


@with_widgets
def test_a_page_that_does_not_attach_is_shown_html_also_while_a_tool_holds_the_thread(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(['I wait.', call('nap')], 'Done.')")
    cell = run(kernel, "%%agent\nhi", Page(kernel, attaches=None))
    first, *others = cell.displays
    assert WIDGET_TYPE not in others[0]["content"]["data"]
    assert "I wait." in others[0]["content"]["data"]["text/html"]
    assert "running" in others[0]["content"]["data"]["text/html"]
    assert others[0]["_time"] - first["_time"] < 2
    assert_frozen(kernel, cell)


@heard
def test_a_page_that_attaches_late_gets_the_widget_back(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(slowly(40, 2.0))")
    page = Page(kernel, shell, attaches=0.9)
    cell = run(kernel, "%%agent\nhi", page)
    shown = [WIDGET_TYPE in each["content"]["data"] for each in cell.displays]
    back = shown.index(True, 1)
    assert not any(shown[1:back])
    assert len(shown) == back + 2, "once it is back the display is left alone until the end"
    assert "word" in page.record["items"][-1]["text"]
    assert_frozen(kernel, cell)


@heard_while_busy
def test_a_page_that_attaches_late_gets_the_widget_back_also_while_a_tool_holds_the_thread(
    kernel: Kernel, shell: str | None
) -> None:
    kernel.run("agent.model = am.scripted(['I wait.', call('nap')], 'Done.')")
    cell = run(kernel, "%%agent\nhi", Page(kernel, shell, attaches=1.9))
    shown = [WIDGET_TYPE in each["content"]["data"] for each in cell.displays]
    assert shown == [True, False, True, False]
    assert cell.displays[2]["_time"] - cell.displays[0]["_time"] < 2.8
    assert_frozen(kernel, cell)


@heard
def test_the_code_of_the_view_is_sent_where_it_is_asked_for(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(slowly(10, 0.5))")
    asked: list[str] = []
    page = Page(kernel, shell, on_run=lambda page: asked or asked.append(page.request("code")))
    run(kernel, "%%agent\nhi", page)
    assert page.responses[asked[0]]["result"]["code"]


@heard
def test_a_page_of_another_version_is_told_what_to_update(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(slowly(10, 0.5))")
    page = Page(kernel, shell, protocol=99)
    run(kernel, "%%agent\nhi", page)
    (response,) = [each for each in page.responses.values() if "error" in each]
    assert "where the kernel runs" in response["error"]


@pytest.mark.parametrize(("place", "code"), [(place[:2], place[2]) for place in UNHEARD], indirect=["place"])
def test_a_page_that_is_not_heard_is_shown_html_and_asked_by_input(
    kernel: Kernel, shell: str | None, code: str
) -> None:
    kernel.run("agent.model = am.scripted(slowly(20, 1.0), 'Done.')")
    page = Page(kernel, shell)
    cell = run(kernel, code, page)
    assert page.attached is None
    assert (page.comm is not None) == (VERSIONS[kernel.python] >= (7, 0))
    live = [each["content"]["data"]["text/html"] for each in cell.displays[1:-1]]
    assert any("word" in html for html in live)
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    cell = run(kernel, code, Page(kernel, shell), answers=("y",))
    assert len(cell.asked) == 1
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all 1\n"
    assert_frozen(kernel, cell)


# Questions ------------------------------------------------------------------------------------------------------------


def answering(decision: str, **more: Any) -> Any:
    """What answers a question as soon as it is there, as a page does."""
    done: set[str] = set()

    def on_run(page: Page) -> None:
        item = page.question
        if item is not None and item["id"] not in done:
            done.add(item["id"])
            page.show(item)
            page.answer(item, decision, **more)

    return on_run


@heard
def test_a_question_is_answered_in_the_page(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    page = Page(kernel, shell, on_run=answering("once"))
    cell = run(kernel, "%%agent\nhi", page)
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all 1\n"
    assert not cell.asked
    approval = next(item for item in cell.record["items"] if item["kind"] == "approval")
    assert (approval["state"], approval["name"], approval["effect"]) == ("done", "danger", "execute")
    assert approval["text"] == ""


@heard
def test_what_the_page_shows_is_the_whole_question(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='x' * 30_000), 'Done.')")
    questions: list[dict[str, Any]] = []

    def on_run(page: Page) -> None:
        if page.question is not None and not questions:
            questions.append(page.question)
            page.answer(page.question, "deny", reason="too long")

    cell = run(kernel, "%%agent\nhi", Page(kernel, shell, on_run=on_run))
    assert questions[0]["arguments"] == {"path": "x" * 30_000}
    assert "x" * 30_000 in questions[0]["text"]
    approval = next(item for item in cell.record["items"] if item["kind"] == "approval")
    assert approval["state"] == "denied"
    assert len(json.dumps(approval)) < 25_000
    assert "too long" in kernel.run("print(agent.messages[-2].text)").printed


@heard
def test_edited_arguments_are_what_runs(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    page = Page(kernel, shell, on_run=answering("once", arguments={"path": "one", "times": 2}))
    cell = run(kernel, "%%agent\nhi", page)
    assert kernel.run("print(agent.messages[-2].text)").printed.endswith("\nremoved one 2\n")
    approval = next(item for item in cell.record["items"] if item["kind"] == "approval")
    assert approval["arguments"] == {"path": "one", "times": 2}


@heard
def test_arguments_that_do_not_fit_leave_the_question_open(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    tried: list[str] = []

    def on_run(page: Page) -> None:
        if page.question is not None and not tried:
            page.show(page.question)
            tried.append(page.answer(page.question, arguments={"path": "all", "times": "many"}))
            tried.append(page.answer(page.question, hash="0" * 64))
            tried.append(page.answer(page.question, "deny"))

    page = Page(kernel, shell, on_run=on_run)
    run(kernel, "%%agent\nhi", page)
    wrong, stale, right = (page.responses[each] for each in tried)
    assert "times" in wrong["error"]
    assert "other arguments" in stale["error"]
    assert right["result"] == {}
    assert kernel.run("print(agent.messages[-2].is_error)").printed == "True\n"


@heard
def test_only_the_first_answer_counts(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), slowly(10, 0.5))")
    answers: list[str] = []

    def on_run(page: Page) -> None:
        if page.question is not None and not answers:
            answers.extend([page.answer(page.question, "deny"), page.answer(page.question, "once")])

    page = Page(kernel, shell, on_run=on_run)
    run(kernel, "%%agent\nhi", page)
    first, second = (page.responses[each] for each in answers)
    assert first["result"] == {}
    assert "answered already" in second["error"]
    assert kernel.run("print(agent.messages[-2].is_error)").printed == "True\n"


@heard
def test_always_is_asked_once(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='a'), call('danger', path='b'), 'Done.')")
    page = Page(kernel, shell, on_run=answering("always"))
    cell = run(kernel, "%%agent\nhi", page)
    assert [item["kind"] for item in cell.record["items"]].count("approval") == 1
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed b 1\n"


@heard
def test_a_question_that_no_page_shows_is_asked_by_input(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    cell = run(kernel, "%%agent\nhi", Page(kernel, shell), answers=("y",))
    assert len(cell.asked) == 1
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all 1\n"


@everywhere
def test_where_no_page_attaches_input_asks(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    cell = run(kernel, "%%agent\nhi", Page(kernel, attaches=None), answers=("n not now",))
    assert len(cell.asked) == 1
    assert "not now" in kernel.run("print(agent.messages[-2].text)").printed


@heard_while_busy
def test_a_page_answers_what_input_asks_at_the_same_time(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    page, answered = Page(kernel, shell), list[str]()

    def late() -> None:
        page.wait()
        if kernel.questions and not answered:
            answered.append(page.answer(page.question or {}))

    (cell,) = kernel.run_all("%%agent\nhi", on_message=page, on_silence=late, answers=())
    assert len(cell.asked) == 1
    assert cell.status == "ok"
    assert page.responses[answered[0]]["result"] == {}
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all 1\n"


@heard
def test_a_page_that_showed_the_question_and_left_leaves_it_to_input(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    shown: list[str] = []

    def on_run(page: Page) -> None:
        if page.question is not None and not shown:
            shown.append(page.show(page.question))
            page.request("detach")

    cell = run(kernel, "%%agent\nhi", Page(kernel, shell, on_run=on_run), answers=("y",))
    assert len(cell.asked) == 1
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all 1\n"


@heard_while_busy
def test_a_nested_cell_is_followed_and_answered_through_a_subshell(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    cell = run(kernel, "%%time\n%%agent\nhi", Page(kernel, shell, on_run=answering("once")))
    assert cell.status == "ok"
    assert not cell.asked
    assert kernel.run("print(agent.messages[-2].text)").printed == "removed all 1\n"
    assert_frozen(kernel, cell)


@everywhere
def test_without_anybody_there_is_no_widget_and_the_call_is_denied(kernel: Kernel) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    page = Page(kernel)
    (cell,) = kernel.run_all("%%agent\nhi", on_message=page)
    assert page.comm is None
    assert cell.status == "ok"
    assert kernel.run("print(agent.messages[-2].is_error)").printed == "True\n"


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("pass", "%%agent --quiet\nhi"),
        ("pass", "%%capture caught\n%%agent\nhi"),
        ("%config AgentMagic.widgets = False", "%%agent\nhi"),
    ],
)
@everywhere
def test_where_a_widget_would_do_no_good_there_is_none(kernel: Kernel, before: str, code: str) -> None:
    kernel.run("agent.model = am.scripted('Here.')")
    kernel.run(before)
    page = Page(kernel)
    cell = run(kernel, code, page)
    kernel.run("%config AgentMagic.widgets = True")
    assert cell.status == "ok"
    assert page.comm is None


# Stop -----------------------------------------------------------------------------------------------------------------


def stop_when(kernel: Kernel, model: str, shell: str | None, ready: Callable[[dict[str, Any]], bool]) -> Cell:
    """Run until the record is `ready`, then stop from the page; again where that took long, as the machine may be busy.

    Asserts that it took effect within 300 ms.
    """
    for _ in range(8):
        stopped: list[float] = []

        def on_run(page: Page, stopped: list[float] = stopped) -> None:
            if not stopped and ready(page.record):
                stopped.append(time.monotonic())
                page.request("stop")

        kernel.run(f"%agent new\nagent.model = am.scripted({model})")
        cell = run(kernel, "%%agent\nhi", Page(kernel, shell, on_run=on_run))
        assert cell.error is not None
        assert cell.error["ename"] == "KeyboardInterrupt"
        took = max(cell.error_time, cell.displays[-1]["_time"]) - stopped[0]
        if took < STOPPED:
            break
    assert took < STOPPED
    assert_frozen(kernel, cell)
    return cell


@heard
def test_a_page_stops_an_answer_that_is_streamed(kernel: Kernel, shell: str | None) -> None:
    def ready(record: dict[str, Any]) -> bool:
        return any(item.get("text", "").count("word") >= 3 for item in record["items"])

    cell = stop_when(kernel, "slowly(400, 20.0)", shell, ready)
    assert cell.record["stop_cause"] == "aborted"


@heard_while_busy
def test_a_page_stops_a_tool_that_holds_the_main_thread(kernel: Kernel, shell: str | None) -> None:

    def ready(record: dict[str, Any]) -> bool:
        return any(item.get("progress") == "GO" for item in record["items"])

    cell = stop_when(kernel, "call('sleepy'), 'Done.'", shell, ready)
    assert [item["state"] for item in cell.record["items"] if item["kind"] == "tool"] == ["aborted"]


@heard_while_busy
def test_a_page_stops_a_question_of_input(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(call('danger', path='all'), 'Done.')")
    page, stopped = Page(kernel, shell), list[str]()

    def late() -> None:
        page.wait()
        if kernel.questions and not stopped:
            stopped.append(page.request("stop"))

    (cell,) = kernel.run_all("%%agent\nhi", on_message=page, on_silence=late, answers=())
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert cell.record["stop_cause"] == "aborted"


# What it costs --------------------------------------------------------------------------------------------------------


@heard
def test_four_thousand_tokens_cost_at_most_400_kilobytes(kernel: Kernel, shell: str | None) -> None:
    kernel.run("agent.model = am.scripted(slowly(4000, 8.0))")
    page = Page(kernel, shell)
    cell = run(kernel, "%%agent\nhi", page, timeout=60)
    assert page.attached is not None
    assert page.record["items"][-1]["text"].count("word") > 3000
    assert page.bytes + sum(map(size_of, cell.displays)) < 400_000
    times = [when for when, message in page.messages if message["type"] != "response"]
    assert len(times) > 40
    assert len(times) / (times[-1] - times[0]) <= 20
