import subprocess
import sys
from typing import Any

import pytest
from IPython.core.error import UsageError

import agent_magic as am
from agent_magic.notebook.extension import load, unload
from agent_magic.notebook.flags import FLAGS


def traces(shell: Any) -> dict[str, Any]:
    """Everything of the shell and the process that loading could touch."""
    import signal

    from agent_magic.tools import function

    return {
        "line": dict(shell.magics_manager.magics["line"]),
        "cell": dict(shell.magics_manager.magics["cell"]),
        "cleanup": list(shell.input_transformers_cleanup),
        "post": list(shell.input_transformers_post),
        "configurables": list(shell.configurables),
        "events": {name: list(found) for name, found in shell.events.callbacks.items()},
        "matchers": list(getattr(shell.Completer, "custom_matchers", ())),
        "attribute": hasattr(shell, "agent_magic"),
        "interrupt": signal.getsignal(signal.SIGINT),
        "tools": list(function._listeners),
        "publisher": shell.display_pub,
        "formatters": dict(shell.display_formatter.ipython_display_formatter.type_printers),
        "namespace": set(shell.user_ns),
    }


def test_unloading_undoes_everything(shell: Any) -> None:
    before = traces(shell)
    load(shell)
    assert traces(shell) != before
    assert am.get_agent().model.api == "demo"
    unload(shell)
    assert traces(shell) == before
    unload(shell)
    assert traces(shell) == before


def test_loading_twice_is_loading_once(shell: Any) -> None:
    load(shell)
    try:
        once, agent = traces(shell), am.get_agent()
        load(shell)
        assert traces(shell) == once
        assert am.get_agent() is agent
    finally:
        unload(shell)


def test_a_magic_of_that_name_comes_back(shell: Any) -> None:
    def agent(line: str) -> str:
        return "another " + line

    shell.register_magic_function(agent, "line", "agent")
    try:
        load(shell)
        unload(shell)
        assert shell.run_line_magic("agent", "one") == "another one"
    finally:
        del shell.magics_manager.magics["line"]["agent"]


def test_without_the_extension_there_is_no_agent_of_the_kernel(shell: Any) -> None:
    with pytest.raises(am.AgentMagicError, match="%load_ext agent_magic"):
        am.get_agent()


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\nimport sys\n"
        "shell = InteractiveShell.instance()\nshell.run_line_magic('load_ext', 'agent_magic')\n"
        "heavy = {'httpx', 'pydantic', 'ipywidgets', 'anywidget', 'markdown_it', 'matplotlib', 'pandas', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "[]\n"


def test_help_names_every_flag_and_subcommand(loaded: Any) -> None:
    found = loaded.find_cell_magic("agent").__doc__
    for flag in FLAGS:
        assert flag.usage in found
    for name in ("model [ID] [--save]", "tools [on|off NAME]", "history", "new", "help"):
        assert f"%agent {name}" in found


# Settings ------------------------------------------------------------------------------------------------------------


def test_settings_reach_the_agent_before_and_after_it_is_made(loaded: Any) -> None:
    loaded.run_line_magic("config", "AgentMagic.max_turns = 7")
    agent = am.get_agent()
    assert agent.loop_config.max_turns == 7
    loaded.run_line_magic("config", "AgentMagic.max_turns = None")
    loaded.run_line_magic("config", "AgentMagic.temperature = 0.5")
    loaded.run_line_magic("config", "AgentMagic.max_tokens = 100")
    loaded.run_line_magic("config", "AgentMagic.thinking = 'high'")
    loaded.run_line_magic("config", "AgentMagic.system_prompt = 'Speak French.'")
    assert agent.loop_config.max_turns is None
    assert (agent.config.temperature, agent.config.max_tokens, agent.thinking_level) == (0.5, 100, "high")
    assert agent.system_prompt.endswith("\nSpeak French.\n")


def test_the_system_prompt_is_the_same_to_the_byte(shell: Any) -> None:
    prompts = set()
    for _ in range(2):
        load(shell)
        prompts.add(am.get_agent().system_prompt)
        unload(shell)
    assert len(prompts) == 1


def test_the_environment_chooses_the_model(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MAGIC_MODEL", "openai/gpt-5-mini")
    load(shell)
    try:
        assert am.get_agent().model.id == "gpt-5-mini"
    finally:
        unload(shell)


def test_the_model_is_chosen_by_line_and_by_config(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    loaded.run_line_magic("agent", "model openai/gpt-5-mini")
    assert am.get_agent().model.id == "gpt-5-mini"
    loaded.run_line_magic("config", "AgentMagic.model = 'demo'")
    assert am.get_agent().model.api == "demo"
    with pytest.raises(am.UnknownModelError):
        loaded.run_line_magic("agent", "model openai/gpt-5-minni")
    assert am.get_agent().model.api == "demo"


def test_a_saved_model_is_read_by_the_next_kernel_of_the_profile(loaded: Any) -> None:
    import json
    from pathlib import Path

    loaded.run_line_magic("agent", "model openai/gpt-5-mini --save")
    path = Path(loaded.profile_dir.location, "ipython_config.json")
    try:
        assert json.loads(path.read_text())["AgentMagic"] == {"model": "openai/gpt-5-mini"}
        code = (
            "get_ipython().run_line_magic('load_ext', 'agent_magic')\n"
            "import agent_magic\nprint(agent_magic.get_agent().model.label)"
        )
        command = [sys.executable, "-m", "IPython", "--no-banner", "--profile-dir", str(path.parent), "-c", code]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert ran.stdout.strip().endswith("openai/gpt-5-mini")
    finally:
        path.unlink()


def test_new_forgets_the_conversation_and_keeps_the_rest(loaded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    agent = am.get_agent()
    agent.model = am.scripted("one", "two", "three")
    loaded.run_line_magic("agent", "hello")
    loaded.run_line_magic("agent", "again")
    assert len(agent.messages) == 4
    loaded.run_cell_magic("agent", "--new", "once more")
    assert [message.text for message in agent.messages] == ["once more", "three"]
    loaded.run_line_magic("agent", "new")
    assert not agent.messages


def test_a_wrong_flag_is_a_usage_error(loaded: Any) -> None:
    with pytest.raises(UsageError, match="--model"):
        loaded.run_cell_magic("agent", "--modle x", "hi")
