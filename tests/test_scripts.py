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


def test_a_wheel_holds_the_package_the_built_front_end_and_the_licence_and_nothing_else() -> None:
    served = "agent_magic-1.data/data/share/jupyter/labextensions/agent-magic/"
    packaged = {*check_wheel.package_files(), *check_wheel.FRONT_END}
    whole = {name.replace("agent_magic/labextension/", served) for name in packaged}
    whole |= {f"{served}install.json", "agent_magic-1.dist-info/licenses/LICENSE"}
    assert check_wheel.wheel_faults(whole) == []
    for lost in ("agent_magic/py.typed", "agent_magic/static/loader.js"):
        assert check_wheel.wheel_faults(whole - {lost}) == [f"missing: {lost}"]
    unbuilt = {name for name in whole if served not in name}
    assert "missing: share/jupyter/labextensions/agent-magic/package.json" in check_wheel.wheel_faults(unbuilt)
    for foreign in ("tests/test_scripts.py", "agent_magic/labextension/package.json"):
        assert check_wheel.wheel_faults({*whole, foreign}) == [f"does not belong: {foreign}"]


def test_a_source_archive_carries_the_built_front_end_and_no_litter() -> None:
    others = {
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "labextension/package-lock.json",
        "labextension/src/view/view.ts",
    }
    inside = {*check_wheel.package_files(), *check_wheel.FRONT_END, *others}
    whole = {f"agent_magic-1/{name}" for name in inside}
    assert check_wheel.source_faults(whole) == []
    assert check_wheel.source_faults(whole - {"agent_magic-1/agent_magic/static/view.js"}) == [
        "missing: agent_magic/static/view.js"
    ]
    for litter in (
        "labextension/node_modules/esbuild/main.js",
        "labextension/lib/view/view.js",
        "labextension/a.tsbuildinfo",
    ):
        assert check_wheel.source_faults({*whole, f"agent_magic-1/{litter}"}) == [f"does not belong: {litter}"]


def test_a_chromium_is_found_on_path_or_its_installation_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["find_chromium.py"])
    script = runpy.run_path(str(SCRIPTS / "find_chromium.py"))
    names = script["main"].__globals__
    monkeypatch.setitem(names, "APPLICATIONS", ())
    monkeypatch.setitem(names, "playwrights", lambda: None)
    with pytest.raises(SystemExit, match="apt-get install --yes --no-install-recommends chromium"):
        script["main"]()
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    script["main"]()
    assert capsys.readouterr().out == f"{program}\n"
