"""Mentions, the last error, completion and the tools about the namespace, in a real kernel."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .guides import executed, runs_of
from .kernel_client import Kernel

pytestmark = pytest.mark.kernel

SETUP = """
import json, time
import agent_magic as am
import pandas as pd
agent = am.get_agent()
sent = []
def see(context, config):
    sent.append([vars(block) for block in context.messages[-1].content])
    return "seen"
agent.model = am.scripted(*[see] * 1000).replace(input=("text", "image"))
df = pd.DataFrame({"month": [1, 2, 3], "revenue": [10.5, 20.5, 30.5]})
class Sleepy:
    def __repr__(self):
        time.sleep(20)
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
    running.run("sent.clear()")
    return running


def sent(kernel: Kernel) -> list[dict[str, Any]]:
    """The blocks of the message that the model was sent last."""
    blocks: list[dict[str, Any]] = json.loads(kernel.run("print(json.dumps(sent[-1]))").printed)
    return blocks


def context_item(cell: Any) -> dict[str, Any]:
    (item,) = [item for item in cell.record["items"] if item["kind"] == "context"]
    return dict(item)


def test_a_mention_is_sent_as_a_block_after_the_prompt_and_shown_exactly_as_sent(kernel: Kernel) -> None:
    cell = kernel.run("%%agent\nWhy does @df rise, @nobody?")
    prompt, added = sent(kernel)
    assert prompt["text"] == "Why does @df rise, @nobody?"
    assert added["text"].startswith("\n\n```@df\npandas DataFrame of 3 rows and 2 columns\n")
    assert "  revenue: minimum 10.5, mean 20.5, maximum 30.5, none missing\n```\n" in added["text"]
    item = context_item(cell)
    assert (item["title"], item["text"]) == ("What the model saw of @df", added["text"])
    assert "<details" in cell.bundle["text/html"]
    assert "mean 20.5" in cell.bundle["text/html"]
    assert "What the model saw of @df" in cell.text


def test_a_slip_in_a_mention_is_told_above_the_answer(kernel: Kernel) -> None:
    kernel.run("revenue = 3")
    cell = kernel.run("%%agent\nIs @revenu more than @Out[999]?")
    assert len(sent(kernel)) == 1
    notes = [item["text"] for item in cell.record["items"] if item["kind"] == "note"]
    assert notes[0] == "@revenu leads to nothing here, so nothing was sent with it. Did you mean @revenue?"
    assert notes[1].startswith("@Out[999] leads to nothing here")


def test_without_a_mention_nothing_is_added(kernel: Kernel) -> None:
    cell = kernel.run("%%agent\nmail me@df.com about `@df`")
    assert len(sent(kernel)) == 1
    assert [item["kind"] for item in cell.record["items"]] == ["user", "text"]


@pytest.mark.parametrize("form", ["%agent look at {}", "%%agent look at {}", "%%time\n%%agent\nlook at {}"])
def test_every_form_of_the_magic_looks_mentions_up(kernel: Kernel, form: str) -> None:
    kernel.run(form.format("@df"))
    assert len(sent(kernel)) == 2


def test_a_figure_is_sent_as_an_image_and_kept_in_the_record(kernel: Kernel) -> None:
    kernel.run("from matplotlib.figure import Figure\nfig = Figure(figsize=(2, 2)); fig.add_subplot().plot([1, 2]);")
    cell = kernel.run("%%agent\nDescribe @fig")
    blocks = sent(kernel)
    assert blocks[1]["text"].startswith("\n\n```@fig\nmatplotlib Figure\n")
    assert blocks[2]["mime_type"] == "image/png"
    (output,) = context_item(cell)["outputs"]
    assert output["image/png"] == blocks[2]["data"]
    assert "<img" in cell.bundle["text/html"]


def test_cells_their_results_and_the_last_error_can_be_mentioned(kernel: Kernel) -> None:
    count = kernel.run("6 * 7")
    number = count.reply["content"]["execution_count"] if count.reply else 0
    kernel.run("def bad(x):\n    return x / 0\npassword = 'hunter2222'; bad(df)['x'], 1 / 0")
    kernel.run(f"%%agent\n@In[{number}] gave @Out[{number}]; then came @error")
    texts = [block["text"] for block in sent(kernel)[1:]]
    assert texts[0] == f"\n\n```@In[{number}]\ncode of the cell\n6 * 7\n```\n"
    assert texts[1] == f"\n\n```@Out[{number}]\nint\n42\n```\n"
    assert "The cell:\ndef bad(x):" in texts[2]
    assert "a cell, line 3, in <module>" in texts[2]
    assert "hunter2222" not in texts[2]


def test_a_file_of_the_folder_can_be_mentioned_and_no_other(kernel: Kernel, tmp_path: Path) -> None:
    kernel.run("open('context_test.csv', 'w').write('a,b\\n1,2\\n') and None")
    try:
        kernel.run("%%agent\nSee @file:context_test.csv.")
        assert "1 row, 2 columns; it begins:\na,b\n1,2\n" in sent(kernel)[1]["text"]
        failed = kernel.run("%%agent\nSee @file:/etc/hostname")
        assert "UsageError: @file: /etc/hostname lies outside the notebook's folder" in failed.printed
        assert kernel.run("print(len(sent))").printed == "1\n"
    finally:
        kernel.run("import os; os.remove('context_test.csv')")


def test_complaint_57_a_repr_that_sleeps_is_cut_off_after_a_second_and_unmentioned_ones_cost_nothing(
    kernel: Kernel,
) -> None:
    kernel.run("sleepy = Sleepy(); many = [Sleepy() for _ in range(100)]")
    began = time.monotonic()
    kernel.run("%%agent\nWhat is @df among @many?")
    assert time.monotonic() - began < 10
    began = time.monotonic()
    cell = kernel.run("%%agent\nWhat is @sleepy?")
    assert 0.9 < time.monotonic() - began < 15
    assert "[cut off: looking at it took more than 1 s]" in context_item(cell)["text"]
    kernel.run("%config AgentMagic.mention_seconds = 0.1")
    cell = kernel.run("%%agent\nWhat is @sleepy?")
    assert "more than 0.1 s" in context_item(cell)["text"]
    kernel.run("%config AgentMagic.mention_seconds = 1.0")


def test_stop_while_a_mention_is_looked_at_ends_the_cell_and_sends_nothing(kernel: Kernel) -> None:
    import threading

    kernel.run("%config AgentMagic.mention_seconds = 10.0")
    timer = threading.Timer(0.5, kernel.interrupt)
    timer.start()
    began = time.monotonic()
    cell = kernel.run("sleepy = Sleepy()\n") and kernel.run("%%agent\nWhat is @sleepy?")
    timer.join()
    kernel.run("%config AgentMagic.mention_seconds = 1.0")
    assert time.monotonic() - began < 5
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert kernel.run("print(len(sent), len(agent.messages))").printed == "0 0\n"


def test_complaint_56_and_59_no_chart_json_goes_to_the_model_and_no_widget_into_the_record(kernel: Kernel) -> None:
    kernel.run(
        "import ipywidgets, altair\nchart = altair.Chart(df).mark_bar(); slider = ipywidgets.IntSlider()\neight = 8"
    )
    cell = kernel.run("%%agent\n@chart @slider @eight")
    texts = "".join(block.get("text", "") for block in sent(kernel))
    assert "Altair chart (bar)" in texts
    assert "vega" not in texts
    assert "int\n8" in texts
    assert "application/vnd.jupyter" not in json.dumps(cell.bundle)
    assert not cell.of_type("comm_open")
    assert len(json.dumps(sent(kernel)[1])) < 500_000


def test_a_message_is_sent_again_as_it_was_and_not_looked_up_anew(kernel: Kernel) -> None:
    kernel.run("number = 1")
    kernel.run("%%agent\nWhat is @number?")
    first = sent(kernel)
    kernel.run("number = 2")
    cell = kernel.run("%agent retry")
    assert sent(kernel) == first
    assert context_item(cell)["text"] == first[1]["text"]


def test_the_tools_about_the_namespace_are_on_and_tell_no_values(kernel: Kernel) -> None:
    kernel.run(
        "agent.model = am.scripted(am.AssistantMessage([am.ToolCall('1', 'variables', {'pattern': 'd*'}),"
        " am.ToolCall('2', 'inspect', {'name': 'df'})]), 'ok')"
    )
    cell = kernel.run("%%agent --new\nWhat is there?")
    tools = [item for item in cell.record["items"] if item["kind"] == "tool"]
    assert [(item["state"], item["result"].splitlines()[0]) for item in tools] == [
        ("done", "df: DataFrame 3 × 2"),
        ("done", "df: DataFrame 3 × 2"),
    ]
    assert "10.5" not in json.dumps(tools)
    kernel.run("agent.model = am.scripted(*[see] * 1000).replace(input=('text', 'image'))")
    kernel.run("@am.tool\ndef variables() -> int:\n    '''Mine.'''\n    return 5")
    assert "Mine." in kernel.run("%agent tools").printed
    kernel.run("agent.tools = {}")


def test_tab_offers_names_in_the_kernel_within_20_ms_of_ten_thousand(kernel: Kernel) -> None:
    kernel.run("globals().update({f'name_{n}': n for n in range(10_000)})")
    for cell, text in (
        ("%%agent\nLook at @name_99", "@name_9999"),
        ("%%agent --mod", "--model"),
        ("%agent hist", "history"),
    ):
        times = []
        while len(times) < 20 and min(times, default=1) >= 0.1:
            began = time.monotonic()
            reply = kernel.client.complete(cell, len(cell), reply=True, timeout=20)["content"]
            times.append(time.monotonic() - began)
        assert text in reply["matches"]
        assert reply["cursor_end"] == len(cell)
        assert cell[: reply["cursor_start"]] + text == cell[: reply["cursor_start"]] + text
        # On the wire and back, besides the 20 ms.
        assert min(times) < 0.1
    kernel.run("for n in range(10_000): del globals()[f'name_{n}']")


def test_the_guide_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    runs = runs_of(executed("context.ipynb", tmp_path))
    assert {run["state"] for run in runs} == {"done"}
    titles = " ".join(item["title"] for run in runs for item in run["items"] if item["kind"] == "context")
    for name in ("@sales", "@by_region", "@growth", "@fig", "@error", "@file:"):
        assert name in titles
    tools = [item for run in runs for item in run["items"] if item["kind"] == "tool"]
    assert [item["name"] for item in tools] == ["inspect"]
