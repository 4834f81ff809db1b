"""The guide to `run_python` runs without a key, and shows what it says."""

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.kernel

PATH = Path(__file__).parents[2] / "notebooks" / "analysis.ipynb"
RECORD = "application/vnd.agent-magic.run+json"


def test_the_guide_to_data_analysis_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    saved = nbformat.read(PATH, as_version=4)
    nbformat.validate(saved)
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(saved, kernel_name="python3", timeout=90, resources=resources).execute()
    runs: list[dict[str, Any]] = [
        output.data[RECORD] for cell in code for output in cell.outputs if RECORD in output.get("data", {})
    ]
    assert [run["state"] for run in runs] == ["done"] * 4
    calls = [[item for item in run["items"] if item["kind"] == "tool"] for run in runs]
    table = calls[0][1]["outputs"][0]["application/vnd.agent-magic.table+json"]
    assert table["columns"] == ["trips", "km", "minutes"]
    assert any("image/png" in bundle for bundle in calls[1][0]["outputs"])
    assert [item["state"] for item in calls[2]] == ["failed", "done"]
    assert calls[2][0]["error"] == "KeyError: 'town'"
    assert calls[3][0]["state"] == "denied"
