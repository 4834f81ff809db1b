"""The guide to `run_python` runs without a key, and shows what it says."""

from pathlib import Path

import pytest

from .guides import executed, runs_of

pytestmark = pytest.mark.kernel


def test_the_guide_to_data_analysis_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    runs = runs_of(executed("analysis.ipynb", tmp_path))
    assert [run["state"] for run in runs] == ["done"] * 4
    calls = [[item for item in run["items"] if item["kind"] == "tool"] for run in runs]
    table = calls[0][1]["outputs"][0]["application/vnd.agent-magic.table+json"]
    assert table["columns"] == ["trips", "km", "minutes"]
    assert any("image/png" in bundle for bundle in calls[1][0]["outputs"])
    assert [item["state"] for item in calls[2]] == ["failed", "done"]
    assert calls[2][0]["error"] == "KeyError: 'town'"
    assert calls[3][0]["state"] == "denied"
