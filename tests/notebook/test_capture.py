import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.display import HTML, display

from agent_magic.notebook.capture import Captured, capture


def test_prints_and_displays_are_caught_in_order(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    captured = Captured()
    with capture(shell, captured):
        print("one")
        print("two", file=sys.stderr)
        display(HTML("<b>h</b>"))
        print("three", end="")
    first, shown, last = captured.bundles
    assert first == {"text/plain": "one\ntwo\n"}
    assert shown["text/html"] == "<b>h</b>"
    assert last == {"text/plain": "three"}
    assert capsys.readouterr() == ("", "")


def test_everything_is_put_back_even_after_an_exception(shell: Any) -> None:
    before = (sys.stdout, sys.stderr, shell.display_pub)
    with pytest.raises(ZeroDivisionError), capture(shell, Captured()):
        raise ZeroDivisionError
    assert (sys.stdout, sys.stderr, shell.display_pub) == before


def test_what_other_threads_print_and_display_goes_where_it_was_going(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    captured = Captured()

    def other() -> None:
        print("from elsewhere")
        shell.display_pub.publish({"text/plain": "shown elsewhere"})

    with capture(shell, captured):
        print("caught")
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert captured.bundles == [{"text/plain": "caught\n"}]
    assert capsys.readouterr().out == "from elsewhere\nshown elsewhere\n"


def test_an_update_replaces_the_display_of_its_id(shell: Any) -> None:
    captured = Captured()
    with capture(shell, captured):
        handle = display(1, display_id=True)
        print("between")
        handle.update(2)
    assert captured.bundles == [{"text/plain": "2"}, {"text/plain": "between\n"}]


def test_clear_output_clears_what_was_caught(shell: Any) -> None:
    from IPython.display import clear_output

    captured = Captured()
    with capture(shell, captured):
        print("old")
        clear_output()
        print("new")
    assert captured.bundles == [{"text/plain": "new\n"}]


@pytest.fixture
def pyplot(shell: Any) -> Iterator[Any]:
    import matplotlib
    from matplotlib_inline.config import InlineBackend

    backend = matplotlib.get_backend()
    matplotlib.use("module://matplotlib_inline.backend_inline")
    from IPython.core.pylabtools import select_figure_formats
    from matplotlib import pyplot

    InlineBackend.instance(parent=shell)
    select_figure_formats(shell, {"png"})
    yield pyplot
    pyplot.close("all")
    matplotlib.use(backend)


def test_new_figures_are_caught_and_closed_and_earlier_ones_left_alone(shell: Any, pyplot: Any) -> None:
    earlier = pyplot.figure()
    captured = Captured()
    with capture(shell, captured):
        pyplot.figure()
        pyplot.plot([1, 2])
    (bundle,) = captured.bundles
    assert "image/png" in bundle
    assert pyplot.get_fignums() == [earlier.number]
