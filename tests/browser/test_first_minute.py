"""What a newcomer does in the first minute, in JupyterLab and in Notebook 7."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.browser

RECORD = "application/vnd.agent-magic.run+json"
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
ASK = "%%agent\nSales for EU in 2024"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_demo_model_calls_a_tool_and_the_record_stays(visit: Any, app: str) -> None:
    notebook = visit(app)
    notebook.server.write("first.ipynb", [LOAD, TOOL, ASK])
    notebook.open("first.ipynb")
    for index in range(3):
        notebook.run(index)
    notebook.shows(2, "returned a DataFrame of 12 rows and 2 columns")
    notebook.shows(2, "demo · 2 turns · 1 call")
    (output,) = notebook.outputs(2)
    assert {RECORD, "text/html", "text/markdown", "text/plain"} <= set(output["data"])
    (saved,) = notebook.save().cells[2].outputs
    assert saved.data[RECORD]["state"] == "done"
    assert "widget" not in str(saved.data.keys())
    assert "widgets" not in notebook.server.read("first.ipynb").metadata
