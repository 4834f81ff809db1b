"""`%agent trace` switches the trace of the kernel's agent on and off, and says where it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.session import trace


@pytest.fixture
def traced(loaded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path / "data"))
    loaded.user_ns["m"] = am.scripted("one", "two", "three")
    yield loaded
    trace.trace_to(None)


def run(shell: Any, line: str) -> None:
    shell.run_cell(line).raise_error()


def test_on_writes_to_the_usual_file_and_off_ends_it(
    traced: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(traced, "%agent trace")
    assert capsys.readouterr().out == "Tracing is off.\n"
    run(traced, "%agent trace on")
    (said,) = capsys.readouterr().out.splitlines()
    run(traced, "%agent -m m a secret")
    (file,) = (tmp_path / "data" / "traces").iterdir()
    assert str(file) in said
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["request", "answer"]
    assert lines[0]["trace"].startswith("notebook-")
    assert "secret" not in file.read_text()
    run(traced, "%agent trace")
    assert str(file) in capsys.readouterr().out
    run(traced, "%agent trace off")
    run(traced, "%agent -m m another")
    assert len(file.read_text().splitlines()) == 2


def test_a_path_and_texts_may_be_given(traced: Any, tmp_path: Path) -> None:
    run(traced, f"%agent trace {tmp_path / 'a b.jsonl'} --texts".replace("a b", "'a b'"))
    run(traced, "%agent -m m a secret")
    assert "a secret" in (tmp_path / "a b.jsonl").read_text()


@pytest.mark.parametrize("words", ["on off", "off --texts", "--texts", "a b"])
def test_other_words_are_a_usage_error(traced: Any, words: str) -> None:
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match="trace"):
        run(traced, f"%agent trace {words}")
