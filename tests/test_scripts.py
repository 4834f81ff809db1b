"""The scripts of the project: what the demo prints, and what the check of the wheel sees."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


demo = SimpleNamespace(**runpy.run_path(str(SCRIPTS / "demo.py")))
check_wheel = SimpleNamespace(**runpy.run_path(str(SCRIPTS / "check_wheel.py")))


def test_a_growing_output_is_printed_once_and_its_footer_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    screen = demo.Screen()
    for text in ("One\n\n1 s · Stop", "One two\n\n2 s · Stop", "One two\n\nthree\n\n3 s · Stop"):
        screen.output(text, "display")
    screen.output("One two\n\nthree\n\n4 s", "display")
    screen.settle()
    assert capsys.readouterr().out == "One two\n\nthree\n\n4 s\n"


def test_a_line_that_changes_is_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    screen = demo.Screen()
    screen.output("Hello\n\nf()  running\n\nfooter", "display")
    screen.output("Hello\n\nf()  done\n\nfooter", "display")
    screen.text("printed\n")
    assert capsys.readouterr().out == "Hello\n\nf()  running\nf()  done\n\nfooter\nprinted\n"


def test_an_erasure_goes_up_by_the_rows_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    assert demo.erasure("short") == "\r\x1b[J"
    assert demo.erasure("a\nb\nc") == "\r\x1b[2A\x1b[J"
    assert demo.erasure("x" * 25) == "\r\x1b[2A\x1b[J"


def test_a_wheel_with_all_files_and_the_licence_passes() -> None:
    files = {path.relative_to(check_wheel.PACKAGE.parent).as_posix() for path in check_wheel.PACKAGE.rglob("*.*")}
    files = {name for name in files if "__pycache__" not in name and "/." not in name}
    whole = {*files, "agent_magic-1.dist-info/licenses/LICENSE"}
    assert check_wheel.faults(whole) == []
    assert check_wheel.faults(whole - {"agent_magic/py.typed"}) == ["missing: agent_magic/py.typed"]
    assert check_wheel.faults({*whole, "tests/test_scripts.py"}) == ["does not belong: tests/test_scripts.py"]
