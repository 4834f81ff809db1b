"""agent_magic stays within its limits of speed, measured against plain httpx.

Noise of the machine only ever adds time, so the best of several fresh processes is compared, and measuring goes on
for a few rounds as long as the limit is not met.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPEATS = 5
ROUNDS = 4

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def mock_server() -> Iterator[str]:
    """The address of a running mock of the model servers."""
    command = [sys.executable, str(HERE / "mockllm.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def measure(peer: str, scenario: str, server: str, key: str) -> float:
    command = [sys.executable, str(HERE / "peers" / f"{peer}.py"), scenario, server]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "NO_PROXY": "127.0.0.1"}
    )
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout.splitlines()[-1])[key])


def ratio(peer: str, baseline: str, scenario: str, key: str, limit: float, server: str) -> float:
    """The best of ours by the best of the baseline's; measured on as long as it is above `limit`, for a few rounds."""
    ours, plain = [], []
    for _ in range(ROUNDS):
        for _ in range(REPEATS):
            plain.append(measure(baseline, scenario, server, key))
            ours.append(measure(peer, scenario, server, key))
        if min(ours) <= limit * min(plain):
            break
    return min(ours) / min(plain)


@pytest.mark.parametrize(
    ("scenario", "key", "limit"),
    [
        ("stream", "cpu_us_per_delta", 1.3),
        ("args", "cpu_ms", 1.3),
        ("loop", "cpu_ms_per_turn", 2.0),
        ("long", "turn_ms", 2.0),
    ],
)
def test_the_cost_stays_near_that_of_plain_httpx(scenario: str, key: str, limit: float, mock_server: str) -> None:
    found = ratio("agent_magic_agent", "raw_httpx", scenario, key, limit, mock_server)
    assert found <= limit, f"{found:.2f} times plain httpx"


@pytest.mark.parametrize("api", ["openai_responses", "anthropic", "gemini"])
@pytest.mark.parametrize(("scenario", "key"), [("stream", "cpu_us_per_delta"), ("args", "cpu_ms")])
def test_every_api_stays_near_plain_httpx(api: str, scenario: str, key: str, mock_server: str) -> None:
    found = ratio(f"agent_magic_{api}", f"raw_httpx_{api}", scenario, key, 1.3, mock_server)
    assert found <= 1.3, f"{found:.2f} times plain httpx"


@pytest.mark.parametrize(("scenario", "limit"), [("parallel", 65.0), ("parallel_async", 65.0), ("tools", 25.0)])
def test_milliseconds_stay_below_the_limit(scenario: str, limit: float, mock_server: str) -> None:
    spent: list[float] = []
    for _ in range(ROUNDS * REPEATS):
        spent.append(measure("agent_magic_agent", scenario, mock_server, "ms"))
        if min(spent) <= limit:
            break
    assert min(spent) <= limit
