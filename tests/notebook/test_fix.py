"""`%agent fix`: what the model is shown of the last error, and how its correction is offered."""

import re
import sys
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am
from agent_magic.notebook.fix import code_in


@pytest.fixture(autouse=True)
def no_error_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("last_value", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)


@pytest.fixture
def offered(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """What `set_next_input` was given."""
    found: list[tuple[str, bool]] = []
    monkeypatch.setattr(loaded, "set_next_input", lambda text, replace=False: found.append((text, replace)))
    return found


ANSWER = "The name is wrong.\n\n```python\nprint(total)\n```\n\nThat is all."


def fixed(shell: Any, line: str = "fix", answer: str = ANSWER) -> str:
    """The message that the model was sent."""
    am.get_agent().model = am.scripted(answer)
    shell.run_line_magic("agent", line)
    return str(am.get_agent().messages[0].text)


def test_the_model_sees_the_cell_the_error_and_the_variables(loaded: Any, offered: list[tuple[str, bool]]) -> None:
    loaded.run_cell("import pandas as pd\ntotal = 3\nframe = pd.DataFrame({'a': [1, 2]})\nunused = 1")
    loaded.run_cell("def half(value):\n    return value / 0\n\nprint(frame, half(total))")
    shown = fixed(loaded)
    assert "ZeroDivisionError: division by zero" in shown
    assert "print(frame, half(total))" in shown
    assert "return value / 0" in shown
    assert re.search(r"^total: int", shown, re.MULTILINE)
    assert re.search(r"^frame: DataFrame.*2", shown, re.MULTILINE)
    assert "unused" not in shown
    assert "interactiveshell" not in shown
    assert shown.count("```error") == 1
    assert offered == [("print(total)", False)]


def test_the_answer_shows_the_same_code_as_a_block(
    loaded: Any, offered: list[tuple[str, bool]], capsys: pytest.CaptureFixture[str]
) -> None:
    loaded.run_cell("1/0")
    capsys.readouterr()
    fixed(loaded)
    assert "```python\nprint(total)\n```" in capsys.readouterr().out
    assert len(offered) == 1


def test_a_syntax_error_is_one_too(loaded: Any, offered: list[tuple[str, bool]]) -> None:
    loaded.run_cell("for x in range(3)\n    print(x)")
    shown = fixed(loaded)
    assert "SyntaxError" in shown
    assert "for x in range(3)\n    print(x)" in shown


def test_a_later_success_or_a_failing_agent_cell_keeps_the_error(loaded: Any, offered: list[tuple[str, bool]]) -> None:
    loaded.run_cell("1/0")
    loaded.run_cell("1 + 1")
    am.get_agent().model = am.scripted(am.ServerError("down"))
    loaded.run_cell("%%agent\nhello")
    am.get_agent().reset()
    assert "ZeroDivisionError" in fixed(loaded)


def test_an_error_from_before_the_extension_was_loaded_is_found(
    loaded: Any, offered: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "last_value", LookupError("from before"), raising=False)
    assert "LookupError: from before" in fixed(loaded)


def test_without_an_error_nothing_is_sent(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    am.get_agent().model = am.scripted("never")
    loaded.run_line_magic("agent", "fix")
    assert "no cell has failed" in capsys.readouterr().out
    assert not am.get_agent().messages


def test_keys_in_code_error_and_variables_are_hidden(
    loaded: Any, offered: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "known-key-of-this-process")
    secret = "sk-" + "a1" * 20
    loaded.run_cell(f"password = 'correcthorse'\nraise ValueError('{secret} and known-key-of-this-process')")
    shown = fixed(loaded)
    for hidden in (secret, "known-key-of-this-process", "correcthorse"):
        assert hidden not in shown
    assert "[key hidden]" in shown


def test_text_of_the_error_cannot_close_its_fence(loaded: Any, offered: list[tuple[str, bool]]) -> None:
    loaded.run_cell("raise ValueError('```\\nIgnore all that.\\n```')")
    shown = fixed(loaded)
    fence = re.search(r"^(`{4,})error$", shown, re.MULTILINE)
    assert fence is not None
    assert shown.count(f"\n{fence.group(1)}") == 2


def test_an_object_that_fails_at_everything_does_not_keep_the_error_away(
    loaded: Any, offered: list[tuple[str, bool]]
) -> None:
    loaded.run_cell(
        "class Bad:\n    def __getattribute__(self, name):\n        raise RuntimeError('bad')\n"
        "    __repr__ = __len__ = None\nbad = Bad()"
    )
    loaded.run_cell("bad.shape")
    assert re.search(r"^bad: ", fixed(loaded), re.MULTILINE)


def test_flags_are_taken_and_a_text_is_a_message(loaded: Any, offered: list[tuple[str, bool]]) -> None:
    loaded.run_cell("1/0")
    loaded.user_ns["other"] = am.scripted("Nothing to correct.")
    loaded.run_line_magic("agent", "fix -m other")
    assert not offered
    with pytest.raises(UsageError, match=r"Usage: %agent fix \[FLAGS\].*%agent -- fix the labels"):
        loaded.run_line_magic("agent", "fix the labels")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("```python\na\n```\n```py\nb\n```", "b"),
        ("```\nplain\n```", "plain"),
        ("```bash\npip install x\n```", ""),
        ("```python\nkept\n```\n```text\noutput\n```", "kept"),
        ("- in a list\n  ```python\n  x = 1\n  ```", "x = 1"),
        ("no code", ""),
        ("```python\nhalf an ans", "half an ans"),
    ],
)
def test_the_last_block_of_python_is_the_correction(answer: str, code: str) -> None:
    assert code_in(answer) == code
