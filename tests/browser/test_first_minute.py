"""What a newcomer does in the first minute, in JupyterLab and in Notebook 7."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from .cells import ASK, RECORD, SETUP, WIDGET, answers

pytestmark = pytest.mark.browser

LOAD = "%load_ext agent_magic"
TOOL = '''\
from agent_magic import tool
import pandas as pd

@tool
def sales(region: str, year: int = 2025):
    """Monthly sales of a region.

    Args:
        region: Two-letter region code.
        year: Calendar year.
    """
    return pd.DataFrame({"month": range(1, 13), "revenue": [400 + 7 * m + year % 10 for m in range(12)]})
'''
# The words of a cell as they are drawn, each with its colour.
COLOURS = (
    "cell => [...cell.querySelectorAll('.cm-line, .cm-line *')].map(e => [e.textContent, getComputedStyle(e).color])"
)


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_demo_model_calls_a_tool_and_the_record_stays(visit: Any, app: str) -> None:
    notebook = visit(app)
    notebook.server.write("first.ipynb", [LOAD, TOOL, "%%agent\nSales for EU in 2024"])
    notebook.open("first.ipynb")
    for index in range(3):
        notebook.run(index)
    notebook.shows(2, "returned a DataFrame of 12 rows and 2 columns")
    notebook.shows(2, "2 turns · 1 call")
    # What is said to the agent is no Python, though it has words of it.
    keyword = dict(notebook.cell(1).evaluate(COLOURS))["return"]
    assert keyword not in [colour for _, colour in notebook.cell(2).evaluate(COLOURS)]
    card = notebook.output(2).locator("details").filter(has_text="sales").first
    expect(card).not_to_have_attribute("open", "")
    card.locator("summary").first.click()
    expect(card.get_by_role("table")).to_contain_text("revenue")
    (output,) = notebook.outputs(2)
    assert set(output["data"]) == {RECORD, "text/html", "text/markdown", "text/plain"}
    # But for a complaint of ipykernel's own.
    (saved,) = (each for each in notebook.save().cells[2].outputs if "data" in each)
    assert saved.data[RECORD]["state"] == "done"
    assert "widgets" not in notebook.server.read("first.ipynb").metadata


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_call_is_a_card_while_it_runs_and_the_widget_is_gone_afterwards(visit: Any, app: str) -> None:
    notebook = visit(app)
    told = answers("['First I wait.', call('block', name='card')]", "'It is **done**.'")
    notebook.server.write("card.ipynb", [SETUP, told, ASK])
    notebook.open("card.ipynb")
    notebook.prepare(2)
    notebook.start(2)
    card = notebook.output(2).locator("details").filter(has_text="block")
    expect(card).to_contain_text("running")
    notebook.shows(2, "First I wait.")
    expect(notebook.output(2).get_by_role("button", name="Stop")).to_be_visible()
    assert WIDGET in notebook.outputs(2)[0]["data"]
    card.locator("summary").click()
    expect(card.locator(".am-body")).to_contain_text("Arguments")
    notebook.let("card")
    expect(card).to_contain_text("done")
    expect(notebook.output(2).locator("strong").filter(has_text="done")).to_be_visible()
    notebook.ended(2)
    expect(notebook.output(2).get_by_role("button", name="Stop")).to_have_count(0)
    assert len(notebook.outputs(2)) == 1, notebook.outputs(2)
    (output,) = notebook.outputs(2)
    assert WIDGET not in output["data"]
    assert output["data"][RECORD]["items"][-1]["text"] == "It is **done**."
    # The record has taken the place of the live view, and is open where that was.
    expect(card.locator(".am-body")).to_contain_text("waited")
