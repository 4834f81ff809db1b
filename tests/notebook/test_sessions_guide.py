"""The guide to sessions runs without a key, and shows what it says."""

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.kernel

PATH = Path(__file__).parents[2] / "notebooks" / "sessions.ipynb"
RECORD = "application/vnd.agent-magic.run+json"


def test_the_guide_to_sessions_runs_and_is_kept_without_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path / "data"))
    saved = nbformat.read(PATH, as_version=4)
    nbformat.validate(saved)
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(saved, kernel_name="python3", timeout=90, resources=resources).execute()
    outputs = [output for cell in code for output in cell.outputs]
    runs: list[dict[str, Any]] = [output.data[RECORD] for output in outputs if RECORD in output.get("data", {})]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    assert [run["state"] for run in runs] == ["done"] * 6
    first, copy = runs[0]["session"], runs[3]["session"]
    assert [run["session"] for run in runs] == [first, first, first, copy, first, first]
    assert "this kernel lacks the names `prices` and the tools `sales`" in printed
    assert "Sales for the EU?" in (tmp_path / "conversation.md").read_text(encoding="utf-8")
    assert len(list((tmp_path / "data" / "sessions").glob("*.jsonl"))) == 2
