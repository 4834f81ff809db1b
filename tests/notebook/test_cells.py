"""Cells in a real kernel: what they show, what they return, what they pass on."""

import json
import time
from collections.abc import Iterator

import pytest

from .kernel_client import Kernel

pytestmark = pytest.mark.kernel

SETUP = """
import asyncio, json, threading, time
import agent_magic as am
from agent_magic import tool
agent = am.get_agent()
seen = []
def answers(*given):
    agent.model = am.scripted(*given)
def echo(context, config):
    seen.append(context.messages[-1].text)
    return "seen"
def call(name, **arguments):
    return am.AssistantMessage([am.ToolCall("c1", name, arguments)])
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Kernel]:
    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic")
        assert kernel.run(SETUP).status == "ok"
        yield kernel


@pytest.fixture
def kernel(running: Kernel) -> Kernel:
    running.run("%agent new")
    return running


def test_the_first_token_is_there_at_once_and_the_rest_as_it_comes(kernel: Kernel) -> None:
    for _ in range(10):
        kernel.run("answers(['first ', am.Delay(1.0), 'second'])")
        cell = kernel.run("%%agent\nhi")
        first = next(each for each in cell.displays if "first" in each["content"]["data"]["text/plain"])
        if first["_time"] - cell.sent < 0.5:
            break
    assert first["_time"] - cell.sent < 0.5
    assert "second" not in first["content"]["data"]["text/plain"]
    assert "first second" in cell.text


def test_a_long_answer_takes_at_most_five_updates_a_second(kernel: Kernel) -> None:
    kernel.run("answers([part for n in range(100) for part in (f'w{n} ', am.Delay(0.01))])")
    cell = kernel.run("%%agent\nhi")
    times = [each["_time"] for each in cell.displays]
    assert len(times) <= 5 * (times[-1] - times[0]) + 4  # three at the start, one at the end
    assert len(times) > 4
    assert "w99" in cell.text


def test_one_output_holds_the_whole_run_and_is_its_record_at_the_end(kernel: Kernel) -> None:
    kernel.run("answers('**Hello**')")
    cell = kernel.run("%%agent\nhi")
    identities = {each["content"]["transient"]["display_id"] for each in cell.displays}
    assert len(identities) == 1
    assert [each["msg_type"] for each in cell.displays].count("display_data") == 1
    assert set(cell.bundle) == {
        "application/vnd.agent-magic.run+json",
        "text/html",
        "text/markdown",
        "text/plain",
    }
    assert cell.record["state"] == "done"
    assert not cell.of_type("execute_result", "stream", "error")


@pytest.mark.parametrize(
    "body",
    [
        "{x} $x {'a': 1} {{y}} 100 % %s",
        r"\alpha $$\frac{1}{2}$$ \n \\",
        '{"a": [1, null], "b": "c"}',
        ">>> print(1)\n... 2",
        "   indented\n\ttab",
        "a\u2028b\u2029c\x85d\x0ce",
        "🙂 𝔘 \u202e",
        "!ls\n%time\n?help",
    ],
    ids=json.dumps,
)
def test_a_body_arrives_unchanged_at_the_model(kernel: Kernel, body: str) -> None:
    kernel.run("answers(echo); seen.clear()")
    assert kernel.run("%%agent\n" + body).status == "ok"
    assert json.loads(kernel.run("print(json.dumps(seen[0]))").printed) == body


def test_the_text_of_the_first_line_stands_before_the_body(kernel: Kernel) -> None:
    kernel.run("answers(echo, echo); seen.clear()")
    kernel.run("%%agent --max-turns 3 {first} 'line'\nbody")
    kernel.run("%agent what is this?")
    assert json.loads(kernel.run("print(json.dumps(seen))").printed) == ["{first} 'line'\nbody", "what is this?"]


def test_the_value_of_a_cell_is_its_reply(kernel: Kernel) -> None:
    kernel.run("answers('one', 'two')")
    kernel.run("%%agent -o reply\nhi")
    assert kernel.run("print(type(reply).__name__, reply.text, reply is _)").printed == "Reply one True\n"
    number = kernel.run("%%agent --quiet\nhi")
    assert not number.displays
    count = number.reply["content"]["execution_count"] if number.reply else 0
    assert kernel.run(f"print(Out[{count}].text)").printed == "two\n"


def test_a_reply_shows_its_text_wherever_no_cell_has_shown_it(kernel: Kernel) -> None:
    kernel.run("answers('one', 'two', 'three')")
    assert not kernel.run("%%agent -o reply\nhi").of_type("execute_result")
    assert not kernel.run("1\n%agent hi").of_type("execute_result")
    for code, text in (("reply", "one"), ("agent.run('hi')", "three")):
        (result,) = kernel.run(code).of_type("execute_result")
        assert result["content"]["data"] == {"text/plain": text}


def test_an_empty_cell_continues_the_run(kernel: Kernel) -> None:
    kernel.run("answers(am.ServerError('down'), 'there you are')")
    assert kernel.run("%%agent\nhi").status == "error"
    assert "there you are" in kernel.run("%%agent").text
    cell = kernel.run("%%agent")
    assert cell.error is not None
    assert "nothing to continue" in cell.error["evalue"]


def test_a_failing_run_stops_run_all_and_keeps_what_came(kernel: Kernel) -> None:
    kernel.run("answers(['half an answer', am.ServerError('The server is on fire.')])")
    failed, after = kernel.run_all("%%agent -o reply\nhi", "print('ran on')")
    assert failed.error is not None
    assert failed.error["ename"] == "ServerError"
    assert failed.error["traceback"] == ["ServerError: The server is on fire."]
    assert failed.record["state"] == "failed"
    assert "half an answer" in failed.text
    assert after.status == "aborted"
    assert kernel.run("print(reply.text, len(agent.messages))").printed == "half an answer 2\n"


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("%%agent --modle x\nhi", "Did you mean --model"),
        ("%%agent -t nothing\nhi", "There is no tool nothing"),
        ("%agent modle", "Did you mean %agent model"),
        ("%agent tools off", "Usage: %agent tools [on|off NAME]"),
        ("%agent model -x", "Usage: %agent model [ID] [--save]"),
    ],
)
def test_a_wrong_line_is_a_usage_error_without_output(kernel: Kernel, code: str, advice: str) -> None:
    cell = kernel.run(code)
    assert cell.status == "error"
    assert cell.printed.startswith("UsageError: ")
    assert advice in cell.printed
    assert not cell.displays


def test_an_unknown_model_is_one_short_error(kernel: Kernel) -> None:
    cell = kernel.run("%%agent -m openai/gpt-5-minni\nhi")
    assert cell.error is not None
    assert cell.error["ename"] == "UnknownModelError"
    assert len(cell.error["traceback"]) == 1


def test_a_model_of_the_namespace_can_be_named(kernel: Kernel) -> None:
    kernel.run("mine = am.scripted('mine')\nanswers('other')")
    assert "mine" in kernel.run("%%agent -m mine\nhi").text
    assert "other" in kernel.run("%%agent\nhi").text


NESTED = {
    "time": "%%time\n%%agent\nhi",
    "capture": "%%capture caught\n%%agent\nhi",
    "run_cell": "r = get_ipython().run_cell('%%agent\\nhi'); print(r.success)",
    "run_cell_magic": "get_ipython().run_cell_magic('agent', '', 'hi')",
    "line": "reply = %agent hi",
    "two": "%agent hi\n1 + 1",
    "await": "await asyncio.sleep(0)\nget_ipython().run_cell('%%agent\\nhi')",
}


@pytest.mark.parametrize("name", NESTED)
def test_a_nested_cell_blocks_and_answers_in_its_own_cell(kernel: Kernel, name: str) -> None:
    kernel.run(
        "ran = []\n@tool\ndef where():\n    '''Where?'''\n    ran.append(threading.current_thread())\n"
        "answers(call('where'), 'nested answer')"
    )
    cell = kernel.run(NESTED[name])
    assert cell.status == "ok", cell.printed
    if name == "capture":
        assert not cell.displays
        shown = kernel.run("caught.show()").displays[0]["content"]["data"]
        assert "nested answer" in shown["text/plain"]
    else:
        assert "nested answer" in cell.text
    assert kernel.run("print(ran[0] is threading.main_thread())").printed == "True\n"


def test_without_autoawait_the_cell_works_too(kernel: Kernel) -> None:
    kernel.run("answers('blocking')\n%autoawait False")
    cell = kernel.run("%%agent\nhi")
    kernel.run("%autoawait True")
    assert "blocking" in cell.text


def test_each_output_lands_in_its_own_cell(kernel: Kernel) -> None:
    kernel.run("answers('one', 'two', 'three')")
    cells = kernel.run_all("%%agent\na", "%%agent\nb", "%agent c", "print('end')")
    assert [cell.record["items"][-1]["text"] for cell in cells[:3]] == ["one", "two", "three"]
    assert not cells[3].displays


def test_two_kernels_run_at_once_and_share_nothing(kernel: Kernel) -> None:
    with Kernel() as other:
        other.run("%load_ext agent_magic")
        other.run(SETUP + "answers([am.Delay(0.3), 'other'])")
        kernel.run("answers([am.Delay(0.3), 'first'])")
        ours = kernel.client.execute("%%agent\nhi")
        theirs = other.run("%%agent\nhi")
        assert "other" in theirs.text
        assert kernel.client.get_shell_msg(timeout=10)["parent_header"]["msg_id"] == ours
        assert other.run("print(len(agent.messages))").printed == "2\n"
    assert kernel.run("print(agent.messages[-1].text)").printed == "first\n"


# Tools ---------------------------------------------------------------------------------------------------------------


def test_what_a_tool_prints_displays_and_plots_goes_into_its_card(kernel: Kernel) -> None:
    kernel.run(
        "%matplotlib inline\nfrom matplotlib import pyplot\nfrom IPython.display import display\n"
        "@tool\ndef draw():\n    '''Draw.'''\n    print('printed')\n    display({'shown': 1})\n"
        "    pyplot.plot([1, 2])\n    return 'drawn'\nanswers(call('draw'), 'ok')"
    )
    cell = kernel.run("%%agent\nhi")
    (item,) = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert item["outputs"][0] == {"text/plain": "printed\n"}
    assert item["outputs"][1]["text/plain"] == "{'shown': 1}"
    assert "image/png" in item["outputs"][2]
    assert len({each["content"]["transient"]["display_id"] for each in cell.displays}) == 1
    assert not cell.printed
    assert not kernel.run("1;").displays


def test_a_frame_that_a_tool_returns_is_a_table_in_its_card(kernel: Kernel) -> None:
    kernel.run(
        "import pandas as pd\n@tool\ndef frame():\n    '''A frame.'''\n"
        "    return pd.DataFrame({'month': [1], 'sum': [2]})\n"
        "answers(call('frame'), 'ok')"
    )
    cell = kernel.run("%%agent\nhi")
    assert "<table" in cell.bundle["text/html"]
    assert "month" in cell.bundle["text/html"]


def test_progress_shows_while_a_tool_holds_the_main_thread(kernel: Kernel) -> None:
    kernel.run(
        "@tool\ndef steps(context: am.ToolContext):\n    '''Steps.'''\n"
        "    for n in range(4):\n        context.on_update(f'step {n}')\n        time.sleep(0.3)\n"
        "answers(call('steps'), 'ok')"
    )
    cell = kernel.run("%%agent\nhi")
    texts = [each["content"]["data"]["text/plain"] for each in cell.displays]
    assert any("step 1" in text for text in texts)
    assert any("step 3" in text for text in texts)


def test_async_tools_overlap(kernel: Kernel) -> None:
    kernel.run(
        "@tool\nasync def nap(n: int):\n    '''Nap.'''\n    await asyncio.sleep(1.0)\n"
        "answers(am.AssistantMessage([am.ToolCall(f'c{n}', 'nap', {'n': n}) for n in range(5)]), 'ok')"
    )
    began = time.monotonic()
    kernel.run("%%agent\nhi")
    assert time.monotonic() - began < 4.5


@pytest.mark.parametrize("how", ["@tool\nasync def", "@tool(thread=True)\ndef"], ids=["async", "thread"])
def test_what_a_tool_prints_that_runs_beside_others_stands_below_the_run(kernel: Kernel, how: str) -> None:
    """The quickstart and docs/tools.md say so."""
    kernel.run(f"{how} loud():\n    '''Loud.'''\n    print('hear me')\n    return 'said'\nanswers(call('loud'), 'ok')")
    cell = kernel.run("%%agent\nhi")
    assert cell.printed == "hear me\n"
    (item,) = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert (item["result"], "hear me" in cell.text) == ("said", False)


@pytest.mark.parametrize("before", ["", "%%time\n"], ids=["await", "nested"])
def test_a_time_out_ends_a_tool_on_the_main_thread_and_the_run_goes_on(kernel: Kernel, before: str) -> None:
    kernel.run(
        "@tool(timeout=0.3)\ndef stuck():\n    '''Stuck.'''\n    while True: pass\nanswers(call('stuck'), 'went on')"
    )
    cell = kernel.run(before + "%%agent\nhi")
    (item,) = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert item["state"] == "failed"
    assert "within 0.3 s" in item["error"]
    assert "went on" in cell.text
    assert cell.status == "ok"


def test_only_the_chosen_tools_are_offered(kernel: Kernel) -> None:
    offered = "answers(*[lambda context, config: ' '.join(sorted(context.tools or {})) or 'none'] * 5)"
    kernel.run("import sys\n@tool\ndef first():\n    '''1'''\n@tool\ndef second():\n    '''2'''\n" + offered)
    assert "none" in kernel.run("%%agent --no-tools\nhi").text
    assert kernel.run("%%agent -t second\nhi").record["items"][-1]["text"] == "second"
    assert "first second" in kernel.run("%agent -t first,second hi").text
    kernel.run("%agent tools off first")
    assert "first" not in kernel.run("%%agent\nhi").record["items"][-1]["text"].split()
    assert "off first" in kernel.run("%agent tools").printed
    kernel.run("%agent tools on first")
    assert "first" in kernel.run("%%agent\nhi").record["items"][-1]["text"].split()


def test_a_tool_that_is_only_bound_to_a_name_joins_and_leaves_with_it(kernel: Kernel) -> None:
    kernel.run(
        "import types\nelsewhere = types.ModuleType('elsewhere')\n"
        "exec('from agent_magic import tool\\n@tool\\ndef far(): \"far\"', elsewhere.__dict__)\nfar = elsewhere.far"
    )
    assert "far" in kernel.run("%agent tools").printed
    assert "far" not in kernel.run("del far\n%agent tools").printed


def test_a_tool_cannot_start_the_agent_that_runs_it(kernel: Kernel) -> None:
    kernel.run(
        "@tool\ndef again():\n    '''Again.'''\n    return agent.run('x').text\nanswers(call('again'), 'went on')"
    )
    cell = kernel.run("%%agent\nhi")
    (item,) = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert "running" in item["error"]
    assert "went on" in cell.text


# Approval ------------------------------------------------------------------------------------------------------------

DANGEROUS = (
    "ran = []\n@tool(effect='execute')\ndef danger(code: str):\n    '''Runs.'''\n    ran.append(code)\n"
    "answers(call('danger', code='x = 1\\nprint(\"\\u202e\")'), 'ok', call('danger', code='y'), 'ok')"
)


def test_a_question_shows_every_argument_and_yes_runs_the_call(kernel: Kernel) -> None:
    kernel.run(DANGEROUS)
    cell = kernel.run("%%agent\nhi", answers=("maybe", "y"))
    assert "danger (runs code)" in cell.asked[0]
    assert '    | x = 1\n    | print("\\u202e")' in cell.asked[0]
    assert cell.asked[1].startswith("y = once, a = always")
    assert kernel.run("print(len(ran))").printed == "1\n"
    assert [item["state"] for item in cell.record["items"] if item["kind"] == "approval"] == ["done"]


def test_no_reaches_the_model_with_its_word(kernel: Kernel) -> None:
    kernel.run(DANGEROUS)
    cell = kernel.run("%%agent\nhi", answers=("n rather read the file",))
    assert kernel.run("print(ran, agent.messages[2].text)").printed.endswith("rather read the file\n")
    assert [item["state"] for item in cell.record["items"] if item["kind"] == "tool"] == ["denied"]
    assert cell.status == "ok"


def test_always_asks_no_more_until_the_conversation_is_forgotten(kernel: Kernel) -> None:
    kernel.run(DANGEROUS)
    assert len(kernel.run("%%agent\nhi", answers=("a",)).asked) == 1
    assert not kernel.run("%%agent\nhi", answers=()).asked
    kernel.run("%agent new")
    kernel.run(DANGEROUS)
    assert len(kernel.run("%%time\n%%agent\nhi", answers=("y",)).asked) == 1


@pytest.mark.parametrize("before", ["", "%%time\n"], ids=["await", "nested"])
def test_where_nobody_can_answer_the_call_is_denied(kernel: Kernel, before: str) -> None:
    kernel.run(DANGEROUS)
    cell = kernel.run(before + "%%agent\nhi")
    assert cell.status == "ok"
    assert kernel.run("print(ran)").printed == "[]\n"
    assert kernel.run("print(agent.messages[2].text)").printed.startswith("Nobody could be asked for approval here")
