"""Settings that all tests share."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Time limits of single examples only measure how busy the machine is. `make soak` takes the second profile.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile("default")

# No models of the person who runs the tests.
os.environ["AGENT_MAGIC_CONFIG"] = str(Path(__file__).parent / "no-such-folder")
# Nor their way to a server.
os.environ.pop("OPENAI_BASE_URL", None)
# No conversations of theirs either.
os.environ["AGENT_MAGIC_DATA"] = tempfile.mkdtemp(prefix="agent-magic-tests-")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page or a kernel that came too late, on a machine with much else to do, is tried once more and reported."""
    for item in items:
        if item.get_closest_marker("browser") or item.get_closest_marker("kernel"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process looks at pages, which alone keep it busy longest, while others take the rest, a file at a time."""
    from xdist.scheduler import LoadScopeScheduling

    class PagesApart(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return "tests/browser" if file.startswith("tests/browser/") else file

    return PagesApart(config, log)
