"""Whole notebooks, executed without a front end: nbclient, papermill, and the quickstart."""

import json
import time
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import papermill
import pytest

from ..speed import fastest
from .guides import executed, runs_of
from .kernel_client import Kernel

pytestmark = pytest.mark.kernel

TOOL = (
    "from agent_magic import tool\n@tool\ndef sales(region: str, year: int = 2025):\n"
    "    '''Monthly sales of a region.\n\n    Args:\n        region: Two-letter region code.\n"
    "        year: Calendar year.\n    '''\n    return {'region': region, 'year': year}"
)
CELLS = [
    "%load_ext agent_magic",
    TOOL,
    "%%agent -o reply\nSales for EU in 2024",
    "assert reply.tool_calls[0].arguments == {'region': 'EU', 'year': 2024}",
]


def notebook(cells: list[str]) -> Any:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def assert_saved_well(saved: Any) -> None:
    nbformat.validate(saved)
    assert "widgets" not in saved.metadata
    assert "widget-view" not in json.dumps(saved)
    (output,) = saved.cells[2].outputs
    assert output.output_type == "display_data"
    assert set(output.data) == {"application/vnd.agent-magic.run+json", "text/html", "text/markdown", "text/plain"}


def test_nbclient_saves_the_record_and_no_widget_state(caplog: pytest.LogCaptureFixture) -> None:
    """Complaint 59 about other tools: one widget that was displayed made the whole saved notebook unreadable."""
    saved = notebook(CELLS)
    nbclient.NotebookClient(saved, kernel_name="python3", timeout=60).execute()
    assert_saved_well(saved)
    assert "No handler found for comm target" not in caplog.text


def test_papermill_saves_the_record_and_no_widget_state(tmp_path: Path) -> None:
    nbformat.write(notebook(CELLS), tmp_path / "in.ipynb")
    papermill.execute_notebook(
        str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), kernel_name="python3", progress_bar=False
    )
    assert_saved_well(nbformat.read(tmp_path / "out.ipynb", as_version=4))


def test_a_failing_run_fails_the_notebook() -> None:
    saved = notebook(["%load_ext agent_magic", "%%agent -m openai/nothing-like-it\nhi", "print('ran on')"])
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="UnknownModelError"):
        nbclient.NotebookClient(saved, kernel_name="python3", timeout=60).execute()
    assert not saved.cells[2].outputs


def test_loading_and_the_first_answer_of_demo_come_within_600_ms() -> None:
    # Other work on the machine may stretch the time by the clock, and never the time of the processor, which here is
    # that of the whole answer. In one of the kernels one of the two has to keep the limit.
    def seconds() -> float:
        with Kernel() as kernel:
            used = float(kernel.run("import time; print(time.process_time())").printed)
            began = time.monotonic()
            kernel.run("%load_ext agent_magic")
            loaded = time.monotonic()
            cell = kernel.run("%%agent\nWhat can you do?")
            used = float(kernel.run("print(time.process_time())").printed) - used
            return min(used, loaded - began + cell.displays[0]["_time"] - cell.sent)

    assert fastest(seconds, 0.6) <= 0.6


def test_the_quickstart_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    runs = runs_of(executed("quickstart.ipynb", tmp_path))
    assert len(runs) >= 4
    assert {run["state"] for run in runs} == {"done"}
    tools = [item for run in runs for item in run["items"] if item["kind"] == "tool"]
    assert {item["state"] for item in tools} == {"done", "failed"}
    assert any(len([item for item in run["items"] if item["kind"] == "tool"]) > 1 for run in runs)
