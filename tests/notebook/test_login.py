"""`%agent login`: a key is asked for, kept, used for its own host, and seen nowhere."""

import importlib.machinery
import os
import sys
import types
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am
from agent_magic.providers import keys

KEY = "test-key-1234567890"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(keys, "_logins", {})


class Keyring(types.ModuleType):
    """Stands for the package keyring."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.__spec__ = importlib.machinery.ModuleSpec("keyring", None)
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, name: str) -> str | None:
        if self.locked:
            raise RuntimeError("The keyring is locked.")
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self.get_password(service, name)
        self.kept[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    made = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", made)
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    questions: list[str] = []

    def getpass(question: str) -> str:
        questions.append(question)
        return f" {KEY} "

    monkeypatch.setattr("getpass.getpass", getpass)
    return questions


def key_of(name: str) -> str | None:
    model = am.get_model(name)
    found = keys.key_for(model, model.base_url)
    return None if found is None else found.reveal()


def test_a_key_is_asked_for_and_kept_in_this_process_only(
    loaded: Any, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Complaints 47 and 48 about other tools: a key had to stand in a cell or in a file."""
    environment = dict(os.environ)
    loaded.run_line_magic("agent", "login openai")
    assert asked == ["Key for openai (it is not shown): "]
    assert key_of("openai/gpt-5-mini") == KEY
    assert dict(os.environ) == environment
    loaded.run_line_magic("agent", "login")
    shown = capsys.readouterr().out
    assert "given in this kernel" in shown
    assert KEY not in shown
    loaded.run_line_magic("agent", "login openai --forget")
    with pytest.raises(am.AuthenticationError, match="%agent login openai"):
        key_of("openai/gpt-5-mini")


def test_the_list_names_variables_and_never_their_values(
    loaded: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    loaded.run_line_magic("agent", "login")
    shown = capsys.readouterr().out
    assert "environment variable GROQ_API_KEY" in shown
    assert "no key" in shown
    assert KEY not in shown


def test_the_keyring_is_used_where_asked_and_read_by_the_next_kernel(
    loaded: Any, asked: list[str], keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded.run_line_magic("agent", "login openai")
    assert not keyring.kept
    loaded.run_line_magic("agent", "login openai --keyring")
    assert keyring.kept == {("agent-magic", "openai"): KEY}
    monkeypatch.setattr(keys, "_logins", {})
    assert key_of("openai/gpt-5-mini") == KEY
    assert KEY in [key.reveal() for key in keys.known_keys()]
    loaded.run_line_magic("agent", "login openai --forget")
    assert not keyring.kept
    loaded.run_line_magic("agent", "login openai --forget")


def test_without_a_working_keyring_there_is_a_clear_error_and_no_key_is_kept(
    loaded: Any, asked: list[str], keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring.locked = True
    with pytest.raises(am.AgentMagicError, match="keyring of this machine cannot be used: The keyring is locked"):
        loaded.run_line_magic("agent", "login openai --keyring")
    with pytest.raises(am.AuthenticationError):
        key_of("openai/gpt-5-mini")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(am.AgentMagicError, match=r"pip install .agent-magic\[keyring\]"):
        loaded.run_line_magic("agent", "login openai --keyring")


def test_a_key_in_the_line_is_refused_and_not_repeated(loaded: Any, asked: list[str]) -> None:
    with pytest.raises(UsageError, match=r"takes no key.*%agent login openai, which asks") as refused:
        loaded.run_line_magic("agent", f"login openai {KEY}")
    assert KEY not in str(refused.value)
    assert not asked


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("login opnai", "There is no provider opnai. Did you mean openai"),
        ("login nothing-like-it", "There are openai, anthropic"),
        ("login --keyring", "Usage: %agent login"),
        ("login openai --save", "Usage: %agent login"),
        ("login openai --keyring --forget", "Usage: %agent login"),
    ],
)
def test_a_wrong_line_asks_for_nothing(loaded: Any, asked: list[str], line: str, advice: str) -> None:
    with pytest.raises(UsageError) as refused:
        loaded.run_line_magic("agent", line)
    assert advice in str(refused.value)
    assert not asked


def test_nothing_typed_changes_nothing(
    loaded: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda question: " ")
    loaded.run_line_magic("agent", "login openai")
    assert "nothing has changed" in capsys.readouterr().out


def test_where_nobody_can_answer_there_is_a_clear_error(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from IPython.core.error import StdinNotImplementedError

    def getpass(question: str) -> str:
        raise StdinNotImplementedError("getpass was called, but this frontend does not support input requests.")

    monkeypatch.setattr("getpass.getpass", getpass)
    with pytest.raises(am.AgentMagicError, match="takes no input"):
        loaded.run_line_magic("agent", "login openai")


@pytest.mark.kernel
def test_a_key_typed_in_a_notebook_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    from .kernel_client import Kernel

    with Kernel() as kernel:
        kernel.run("%load_ext agent_magic\nimport os")
        cell = kernel.run("%agent login openai", answers=(KEY,))
        assert cell.asked == ["Key for openai (it is not shown): "]
        assert "kept in this kernel" in cell.printed
        assert KEY not in str(cell.messages)
        assert kernel.run(f"print({KEY!r} in str(os.environ), {KEY!r} in str(In[:-1]))").printed == "False False\n"
        denied = kernel.run("%agent login groq")
        assert denied.error is not None
        assert "takes no input" in denied.error["evalue"]
        assert len(denied.error["traceback"]) == 1


def test_a_host_of_ones_own_may_have_a_key_too(loaded: Any, asked: list[str]) -> None:
    loaded.run_line_magic("agent", "login models.example.org")
    model = am.Model("x", base_url="https://models.example.org/v1")
    found = keys.key_for(model, model.base_url)
    assert found is not None
    assert found.reveal() == KEY
    assert keys.key_for(model, "https://elsewhere.example.org/v1") is None
