"""The guide to tools runs without a key, and shows what it says."""

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.kernel

PATH = Path(__file__).parents[2] / "notebooks" / "tools.ipynb"
RECORD = "application/vnd.agent-magic.run+json"


def test_the_guide_to_tools_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    saved = nbformat.read(PATH, as_version=4)
    nbformat.validate(saved)
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(saved, kernel_name="python3", timeout=90, resources=resources).execute()
    runs: list[dict[str, Any]] = [
        output.data[RECORD] for cell in code for output in cell.outputs if RECORD in output.get("data", {})
    ]
    assert {run["state"] for run in runs} == {"done"}
    calls = [[(item["name"], item["state"]) for item in run["items"] if item["kind"] == "tool"] for run in runs]
    assert calls == [
        [("convert", "done")],
        [("convert", "failed"), ("convert", "done")],
        [("rainfall", "done")],
        [("find_books", "done"), *[("fetch", "done")] * 2, *[("compress", "done")] * 2],
        [("train", "done")],
        [("open_account", "failed")],
        [("wait_for_printer", "failed")],
        # Nobody is there to be asked.
        [("restart", "denied")],
        [("restart", "done")],
        [("restart", "denied")],
        [("convert", "done")],
    ]
