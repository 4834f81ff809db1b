from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .kernel_client import Kernel
from .panel_page import SETUP, PanelPage


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """IPython's own shell in this process, with a profile of its own and no history."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.ProfileDir.location = str(tmp_path_factory.mktemp("profile"))
    shell = InteractiveShell.instance(config=config, ipython_dir=str(Path(config.ProfileDir.location).parent))
    assert "/.ipython" not in shell.profile_dir.location
    return shell


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the conversations of this test are kept; there is nothing yet."""
    monkeypatch.setenv("AGENT_MAGIC_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "sessions"


@pytest.fixture
def fresh(data: Path, loaded: Any) -> Any:
    """The shell with the extension loaded and no conversation kept yet."""
    return loaded


@pytest.fixture
def loaded(shell: Any) -> Iterator[Any]:
    """The shell with the extension loaded, in an empty namespace."""
    from agent_magic.notebook.extension import load, unload

    before = set(shell.user_ns)
    load(shell)
    yield shell
    unload(shell)
    # What `%config` set is kept by the shell for whatever is loaded later.
    shell.config.pop("AgentMagic", None)
    for name in set(shell.user_ns) - before:
        del shell.user_ns[name]


@pytest.fixture(scope="module")
def panel() -> Iterator[PanelPage]:
    """A page of the panel in a real kernel, where `SETUP` has run."""
    with Kernel() as kernel:
        page = PanelPage(kernel)
        page.load()
        assert page.comm
        assert kernel.run(SETUP).status == "ok"
        yield page


@pytest.fixture
def page(panel: PanelPage) -> Iterator[PanelPage]:
    """`panel` at rest, at the beginning of a conversation; at the end, nothing was shown that belongs to no cell."""
    panel.kernel.run("agent.abort()\nawait agent.wait_for_idle()\nagent.clear_queues()\n%agent new")
    panel.events.clear()
    panel.attach()
    yield panel
    assert panel.strays == []
