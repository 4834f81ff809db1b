"""What a run beside the user's cells must put back, or leave alone, when one of both ends before the other."""

from __future__ import annotations

import builtins
import signal
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.error import StdinNotImplementedError

from agent_magic.notebook.interrupt import sigint_handled_by
from agent_magic.notebook.panel_output import PanelOutput


@pytest.fixture
def heard() -> Iterator[list[str]]:
    heard: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("before"))
    yield heard
    signal.signal(signal.SIGINT, before)


def test_a_handler_takes_away_no_other_and_passes_on_when_it_is_over(heard: list[str]) -> None:
    def of_a_cell(*_: Any) -> None:
        heard.append("cell")

    with sigint_handled_by(lambda *_: heard.append("run")):
        ours = signal.getsignal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, of_a_cell)
    assert signal.getsignal(signal.SIGINT) is of_a_cell
    # The cell ends, and puts back what it found.
    signal.signal(signal.SIGINT, ours)
    signal.raise_signal(signal.SIGINT)
    assert heard == ["run", "before"]


def test_streams_pass_on_when_they_are_over(capsys: pytest.CaptureFixture[str]) -> None:
    output, shell = PanelOutput(), SimpleNamespace(display_pub=SimpleNamespace(publish=print, clear_output=print))
    before = sys.stdout
    with output.catching(shell):
        ours = sys.stdout
        print("caught")
        sys.stdout = cell = SimpleNamespace(write=before.write, flush=before.flush)  # type: ignore[assignment]
        print("of the cell")
    assert sys.stdout is cell
    sys.stdout = ours
    try:
        print("later")
    finally:
        sys.stdout = before
    assert output.take(None) == [{"text/plain": "caught\n"}]
    assert capsys.readouterr().out == "of the cell\nlater\n"


def test_an_output_that_stands_elsewhere_is_changed_there() -> None:
    published: list[Any] = []

    class Publisher:
        def publish(self, data: Any, metadata: Any = None, **more: Any) -> None:
            published.append((data, more))

        def clear_output(self, wait: bool = False) -> None:
            published.append("cleared")

    output, publisher = PanelOutput(), Publisher()
    with output.catching(SimpleNamespace(display_pub=publisher)):
        publisher.publish({"text/plain": "own"}, transient={"display_id": "a"})
        publisher.publish({"text/plain": "own, changed"}, transient={"display_id": "a"}, update=True)
        publisher.publish({"text/plain": "of a cell"}, transient={"display_id": "b"}, update=True)
    assert vars(publisher) == {}
    assert output.take(None) == [{"text/plain": "own, changed"}]
    assert published == [({"text/plain": "of a cell"}, {"transient": {"display_id": "b"}, "update": True})]


def test_input_is_refused_to_the_run_alone() -> None:
    output, shell = PanelOutput(), SimpleNamespace(display_pub=SimpleNamespace(publish=print, clear_output=print))
    before = builtins.input
    with output.catching(shell), pytest.raises(StdinNotImplementedError, match="nobody to ask"):
        input("name? ")
    assert builtins.input is before
