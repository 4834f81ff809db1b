"""What a terminal with colours shows, on a small screen that understands the control sequences that are sent."""

import contextlib
import io
import re
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook.ansi import colours_for, markdown_ansi, rows_of, styled, width_of
from agent_magic.notebook.wording import without_ansi

CONTROL = re.compile(r"\x1b\[(\d*(?:;\d+)*)([A-Za-z])")


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(sent: str, columns: int = 80) -> str:
    """The text that stands on the screen in the end."""
    rows, row, column, place = [""], 0, 0, 0
    while place < len(sent):
        control = CONTROL.match(sent, place)
        if control is not None:
            number, kind = control.groups()
            if kind == "A":
                row = max(0, row - int(number or 1))
            elif kind == "J":
                rows[row:] = [rows[row][:column]]
            else:
                assert kind == "m"
            place = control.end()
            continue
        letter = sent[place]
        place += 1
        if letter == "\r":
            column = 0
        elif letter == "\n" or column == columns:
            row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
        if letter not in "\r\n":
            assert letter.isprintable(), repr(letter)
            rows[row] = rows[row][:column] + letter + rows[row][column + 1 :]
            column += 1
    return "\n".join(rows)


@pytest.fixture
def tty(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> Tty:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setitem(loaded._trait_values, "colors", "linux")
    return Tty()


def answered(shell: Any, tty: Tty, *answer: Any) -> str:
    """What `%agent hi` sends to the terminal."""
    am.get_agent().model = am.scripted(*answer)
    return typed(shell, tty, "hi")


def typed(shell: Any, tty: Tty, line: str) -> str:
    tty.truncate(0)
    tty.seek(0)
    with contextlib.redirect_stdout(tty):
        shell.run_line_magic("agent", line)
    return tty.getvalue()


ANSWER = (
    "# Sales\n\nThe **best** month is `May`.\nA second line.\n\n- one\n- two\n\n"
    "| a | b |\n|---|--:|\n| x | 10 |\n\n```python\nx = 1\n\ny = 2\n```\n\nPlain end."
)
SHOWN = (
    "Sales\n\nThe best month is May.\nA second line.\n\n• one\n• two\n\na   b\n─  ──\nx  10\n\n"
    "    x = 1\n    \n    y = 2\n\nPlain end."
)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_markdown_that_streams_ends_in_its_styles_whatever_the_pieces(loaded: Any, tty: Tty, size: int) -> None:
    pieces = [ANSWER[start : start + size] for start in range(0, len(ANSWER), size)]
    sent = answered(loaded, tty, pieces)
    assert screen(sent).partition("\nscripted/")[0].rstrip() == SHOWN
    assert "\x1b[1mbest\x1b[0m" in sent


def test_a_word_is_on_the_screen_as_soon_as_it_comes(loaded: Any, tty: Tty) -> None:
    seen: list[str] = []

    def look(context: Any, config: Any) -> Any:
        return ["A **half", am.Delay(0.05), "** word"]

    unsubscribe = am.get_agent().subscribe(lambda event: seen.append(screen(tty.getvalue())))
    answered(loaded, tty, look)
    unsubscribe()
    assert any(each.rstrip().endswith("A **half") for each in seen)
    assert screen(tty.getvalue()).startswith("A half word\n")


def test_a_paragraph_that_has_left_the_screen_stays_as_it_came(
    loaded: Any, tty: Tty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "3")
    text = "**x** " + "word " * 100
    sent = answered(loaded, tty, [text[:300], text[300:]])
    assert "\x1b[J" not in sent
    assert "**x** word" in sent
    assert sent.count("word") == 100


def test_a_model_cannot_send_control_sequences(loaded: Any, tty: Tty) -> None:
    sent = answered(loaded, tty, ["a\x1b]0;title\x07b \x1b[2J **c\x1b[31m**\n\n`d\x1b[1A`\u202e"])
    assert set(re.findall(r"\x1b\[[0-9;]*[A-Za-z]", sent)) <= {
        "\x1b[1m",
        "\x1b[0m",
        "\x1b[36m",
        "\x1b[2m",
        "\x1b[2A",
        "\x1b[J",
    }
    assert sent.count("\x1b") == len(re.findall(r"\x1b\[", sent))
    assert "\x07" not in sent
    assert "\\u202e" in sent


def test_a_failed_call_is_one_red_line_and_show_gives_the_rest(loaded: Any, tty: Tty) -> None:
    loaded.run_cell(
        "from agent_magic import tool\n@tool\ndef broken(text: str):\n    '''B.'''\n"
        "    raise ValueError('no\\nmore of it')"
    )
    call = am.AssistantMessage([am.ToolCall("1", "broken", {"text": "first\nsecond"})])
    sent = answered(loaded, tty, call, "Sorry.")
    number = loaded.agent_magic.kernel.runs.count
    assert re.search(r"broken\(text=.*\)  \x1b\[31m✕ failed: no", sent)
    assert f"%agent show {number} shows it in full" in sent
    shown = typed(loaded, tty, f"show {number}")
    assert "    text:\n    first\n    second\n" in shown
    assert "more of it" in shown


@pytest.mark.parametrize(
    ("variables", "colors", "tty", "expected"),
    [
        ({}, "linux", True, True),
        ({}, "linux", False, False),
        ({"NO_COLOR": "1"}, "linux", True, False),
        ({"TERM": "dumb"}, "linux", True, False),
        ({}, "NoColor", True, False),
        ({}, "nocolor", True, False),
    ],
)
def test_colours_need_a_terminal_that_is_allowed_them(
    variables: dict[str, str], colors: str, tty: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    shell = type("Shell", (), {"colors": colors})
    assert colours_for(Tty() if tty else io.StringIO(), shell) is expected


def test_styles_nest_and_widths_count_columns() -> None:
    assert styled(f"a{styled('b', '36')}c", "1") == "\x1b[1ma\x1b[36mb\x1b[0m\x1b[1mc\x1b[0m"
    assert width_of("漢字e\u0301\x1b[1mx\x1b[0m") == 6
    assert rows_of("12345\n\n123456", 5) == 4


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3. a\n4. b", "3. a\n4. b"),
        ("- a\n  - b\n    c", "• a\n  • b\n    c"),
        ("> a\n>\n> b", "│ a\n│\n│ b"),
        ("[w](https://a.b) <https://a.b> [x](javascript:1)", "w (https://a.b) https://a.b [x](javascript:1)"),
        ("![p](https://a.b/c.png)", "[p] (https://a.b/c.png)"),
        ("a\n\n---\n\n$x_1$", "a\n\n" + "─" * 40 + "\n\n$x_1$"),
        ("", ""),
        ("<b>raw</b>", "<b>raw</b>"),
    ],
)
def test_markdown_becomes_lines(text: str, shown: str) -> None:
    assert "\n".join(line.rstrip() for line in without_ansi(markdown_ansi(text)).split("\n")) == shown
