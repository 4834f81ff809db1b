"""The fixture for users' notebooks, tried on the guide to it: no key, and no network to reach anybody by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

GUIDE = Path(__file__).resolve().parent.parent / "notebooks" / "replay.ipynb"

pytestmark = pytest.mark.kernel


@pytest.fixture(autouse=True)
def nobody_to_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def test_the_guide_runs_with_its_recorded_answers(agent_magic_replay: Callable[..., Any]) -> None:
    before = GUIDE.read_bytes()
    notebook = agent_magic_replay("../notebooks/replay.ipynb", timeout=60)
    nbformat.validate(notebook)
    runs = [each.data for each in outputs(notebook) if "application/vnd.agent-magic.run+json" in each.get("data", {})]
    assert len(runs) == 2
    assert "The **US** sold more in 2024: 6,834 against 5,394 in the EU." in runs[0]["text/markdown"]
    calls = [item for item in runs[0]["application/vnd.agent-magic.run+json"]["items"] if item["kind"] == "tool"]
    assert [call["state"] for call in calls] == ["done", "done"]
    assert "1,440 more" in runs[1]["text/plain"]
    printed = "".join(each.text for each in outputs(notebook) if each.output_type == "stream")
    assert "By how many per cent?" in printed
    assert "was not recorded in replay.agent-replay.json" in printed
    assert GUIDE.read_bytes() == before


def test_the_guide_is_kept_without_outputs_and_its_recording_without_leftovers() -> None:
    saved: Any = nbformat.read(GUIDE, as_version=4)
    assert all(not cell.outputs and cell.execution_count is None for cell in saved.cells if cell.cell_type == "code")
    recording = json.loads(GUIDE.with_name("replay.agent-replay.json").read_text(encoding="utf-8"))
    assert len(recording["exchanges"]) == 3


def test_a_cell_whose_request_was_not_recorded_fails_the_test(
    agent_magic_replay: Callable[..., Any], tmp_path: Path
) -> None:
    from nbclient.exceptions import CellExecutionError

    cells = [nbformat.v4.new_code_cell(each) for each in ("%load_ext agent_magic", "%%agent -m openai/gpt-5-mini\nHi")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    with pytest.raises(CellExecutionError, match=r"ReplayError: There is nothing to replay: .*a\.agent-replay\.json"):
        agent_magic_replay(tmp_path / "a.ipynb", timeout=60)
