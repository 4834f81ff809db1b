"""The guide to sessions runs without a key, and shows what it says."""

from pathlib import Path

import pytest

from .guides import executed, runs_of

pytestmark = pytest.mark.kernel


def test_the_guide_to_sessions_runs_and_is_kept_without_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path / "data"))
    code = executed("sessions.ipynb", tmp_path)
    runs = runs_of(code)
    printed = "".join(output.text for cell in code for output in cell.outputs if output.output_type == "stream")
    assert [run["state"] for run in runs] == ["done"] * 6
    first, copy = runs[0]["session"], runs[3]["session"]
    assert [run["session"] for run in runs] == [first, first, first, copy, first, first]
    assert "this kernel lacks the names `prices` and the tools `sales`" in printed
    assert "Sales for the EU?" in (tmp_path / "conversation.md").read_text(encoding="utf-8")
    assert len(list((tmp_path / "data" / "sessions").glob("*.jsonl"))) == 2
