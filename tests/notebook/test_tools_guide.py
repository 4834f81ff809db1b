"""The guide to tools runs without a key, and shows what it says."""

from pathlib import Path

import pytest

from .guides import executed, runs_of

pytestmark = pytest.mark.kernel


def test_the_guide_to_tools_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    runs = runs_of(executed("tools.ipynb", tmp_path))
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
