"""Keys are hidden; ordinary text is not."""

import pytest

from agent_magic.notebook.masking import MASK, masked
from agent_magic.providers.keys import login

SHAPED = [
    "sk-" + "a1" * 20,
    "sk-proj-" + "a1_-" * 10,
    "sk-ant-api03-" + "Z9" * 20,
    "sk-or-v1-" + "0f" * 32,
    "ghp_" + "a" * 36,
    "github_pat_" + "a" * 40,
    "glpat-" + "a" * 20,
    "AKIA" + "A" * 16,
    "AIza" + "a" * 35,
    "xoxb-123456789012-abc",
    "hf_" + "a" * 34,
    "gsk_" + "a" * 40,
    "xai-" + "a" * 60,
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("key", SHAPED)
def test_what_has_the_shape_of_a_key_is_hidden(key: str) -> None:
    assert masked(f"before {key} after") == f"before {MASK} after"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ('password = "hunter22"', f'password = "{MASK}"'),
        ("{'api_key': 'abcdefgh'}", f"{{'api_key': '{MASK}'}}"),
        ("postgres://user:hunter2@host/db", f"postgres://user:{MASK}@host/db"),
    ],
)
def test_what_is_named_a_key_is_hidden(text: str, hidden: str) -> None:
    assert masked(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tokens = 5",
        "task-force and risk-averse-people-everywhere",
        "http://host:80/a@b",
        "token: str = None",
        "key = 'a'",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert masked(text) == text


def test_the_keys_of_this_process_are_hidden_whatever_they_look_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", " plain words here ")
    login("openai", "another secret")
    try:
        assert masked("x plain words here y another secret z") == f"x {MASK} y {MASK} z"
    finally:
        login("openai", None)
