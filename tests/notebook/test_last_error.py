"""The last error: which one it is, and what is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_magic.notebook.last_error import LastError, error_pieces


@pytest.fixture
def watched(shell: Any) -> Any:
    last = LastError()
    forget = last.watch(shell)
    yield last
    forget()


def told(last: LastError) -> str:
    assert last.error is not None
    return "\n".join(error_pieces(last.error, last.code))


def test_the_cell_the_line_and_the_message_are_told_without_the_machinery(shell: Any, watched: LastError) -> None:
    shell.run_cell("def f(x):\n    return 1 / x\n\nf(0)")
    text = told(watched)
    assert text.startswith("ZeroDivisionError: division by zero\nThe cell:\ndef f(x):\n    return 1 / x\n\nf(0)\n")
    assert "  a cell, line 4, in <module>\n    f(0)\n  a cell, line 2, in f\n    return 1 / x\n" in text
    assert "IPython" not in text
    assert "interactiveshell" not in text


def test_frames_of_libraries_are_told_without_where_they_lie(shell: Any, watched: LastError) -> None:
    shell.run_cell("import json, pandas\njson.loads('{')")
    assert "  decoder.py, line" in told(watched)
    shell.run_cell("pandas.DataFrame({'a': [1]})['b']")
    assert "  pandas/core/frame.py, line" in told(watched)
    assert f"{json.__file__[:5]}" not in told(watched).replace("pandas/core", "")


def test_errors_that_led_to_it_are_told_first(shell: Any, watched: LastError) -> None:
    shell.run_cell("try:\n    {}['k']\nexcept KeyError as error:\n    raise ValueError('no k') from error")
    text = told(watched)
    assert text.index("Traceback of KeyError") < text.index("Traceback of ValueError")


def test_a_syntax_error_is_told_with_its_line(shell: Any, watched: LastError) -> None:
    shell.run_cell("x = = 1")
    assert "SyntaxError" in told(watched)
    assert "x = = 1" in told(watched)


def test_a_deep_traceback_is_trimmed(shell: Any, watched: LastError) -> None:
    shell.run_cell("def f(n):\n    return f(n + 1)\nf(0)")
    text = told(watched)
    assert "calls left out" in text
    assert len(text) < 4_000


def test_a_cell_that_works_or_speaks_to_the_agent_does_not_change_it(shell: Any, watched: LastError) -> None:
    shell.run_cell("1 / 0")
    error = watched.error
    shell.run_cell("2 + 2")
    shell.run_cell("%%agent --nonsense\nhi")
    assert watched.error is error


def test_what_is_watched_can_be_let_go(shell: Any) -> None:
    before = list(shell.events.callbacks["post_run_cell"])
    LastError().watch(shell)()
    assert shell.events.callbacks["post_run_cell"] == before
