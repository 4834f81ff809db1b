"""Settings that all tests share."""

import os
import tempfile
from pathlib import Path

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
