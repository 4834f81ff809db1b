"""`%agent autoload`: what it changes in the profile, that IPython reads it, and that off takes exactly that away."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am


@pytest.fixture
def profile(loaded: Any) -> Iterator[Path]:
    folder = Path(loaded.profile_dir.location)
    yield folder
    for name in ("ipython_config.py", "ipython_config.json"):
        (folder / name).unlink(missing_ok=True)


def typed(shell: Any, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    shell.run_line_magic("agent", line)
    return capsys.readouterr().out


def loaded_in_new_kernel(folder: Path, code: str = "") -> str:
    code = f"import sys; print(hasattr(get_ipython(), 'agent_magic'), {code or 'None'})"
    command = [sys.executable, "-m", "IPython", "--no-banner", "--profile-dir", str(folder), "-c", code]
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=folder,
        env={**os.environ, "IPYTHONDIR": str(folder)},
    )
    return ran.stdout.strip().splitlines()[-1]


def test_on_is_read_by_the_next_kernel_and_off_leaves_no_trace(
    loaded: Any, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "ipython_config.py"
    assert typed(loaded, "autoload", capsys).startswith("autoload is off")
    assert "nothing" in typed(loaded, "autoload off", capsys)
    shown = typed(loaded, "autoload on", capsys)
    assert str(path) in shown
    for line in path.read_text().splitlines():
        assert line in shown
    assert loaded_in_new_kernel(profile) == "True None"
    assert "already" in typed(loaded, "autoload on", capsys)
    assert typed(loaded, "autoload", capsys).startswith("autoload is on")
    assert str(path) in typed(loaded, "autoload off", capsys)
    assert not path.exists()
    assert loaded_in_new_kernel(profile) == "False None"


@pytest.mark.parametrize(
    "before",
    [
        "c = get_config()\nc.InteractiveShellApp.extensions = ['autoreload']\n",
        "c = get_config()\nc.InteractiveShellApp.extensions.append('autoreload')",
        "c = get_config()\r\nc.InteractiveShellApp.extensions = ['autoreload']\r\n",
    ],
)
def test_what_the_user_wrote_stays_to_the_byte(
    loaded: Any, profile: Path, before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "ipython_config.py"
    path.write_bytes(before.encode())
    typed(loaded, "autoload on", capsys)
    has_autoreload = "'autoreload' in get_ipython().magics_manager.magics['line']"
    assert loaded_in_new_kernel(profile, has_autoreload) == "True True"
    typed(loaded, "autoload off", capsys)
    assert path.read_bytes().decode().rstrip("\n") == before.rstrip("\n")
    assert loaded_in_new_kernel(profile, has_autoreload) == "False True"


def test_a_list_in_the_json_file_is_added_to_since_it_goes_before_the_other(
    loaded: Any, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "ipython_config.json"
    before = {"InteractiveShellApp": {"extensions": ["autoreload"]}, "AgentMagic": {"model": "demo"}}
    path.write_text(json.dumps(before))
    assert "['autoreload', 'agent_magic']" in typed(loaded, "autoload on", capsys)
    assert loaded_in_new_kernel(profile) == "True None"
    typed(loaded, "autoload off", capsys)
    assert json.loads(path.read_text()) == before
    assert not (profile / "ipython_config.py").exists()


def test_a_json_file_of_other_settings_is_left_alone(
    loaded: Any, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "ipython_config.json"
    path.write_text('{"AgentMagic": {"model": "demo"}}')
    typed(loaded, "autoload on", capsys)
    assert path.read_text() == '{"AgentMagic": {"model": "demo"}}'
    assert loaded_in_new_kernel(profile) == "True None"


def test_lines_that_were_edited_are_left_to_their_editor(
    loaded: Any, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "ipython_config.py"
    typed(loaded, "autoload on", capsys)
    edited = path.read_text().replace(".append", ".insert")
    path.write_text(edited)
    with pytest.raises(am.AgentMagicError, match="were edited"):
        typed(loaded, "autoload off", capsys)
    assert path.read_text() == edited


def test_a_broken_file_or_word_is_an_error_and_changes_nothing(
    loaded: Any, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "ipython_config.json"
    path.write_text("{broken")
    for line in ("autoload", "autoload on", "autoload off"):
        with pytest.raises(am.AgentMagicError, match="nothing was changed"):
            typed(loaded, line, capsys)
    assert path.read_text() == "{broken"
    assert not (profile / "ipython_config.py").exists()
    for line in ("autoload maybe", "autoload on off"):
        with pytest.raises(UsageError, match=r"Usage: %agent autoload \[on\|off\]"):
            typed(loaded, line, capsys)
