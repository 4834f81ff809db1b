"""Record the exchanges of the guide notebooks/replay.ipynb anew, from answers that stand here.

    python scripts/record_guide.py

The guide is run in a kernel whose requests go to a stand-in for the network, so it costs nothing. To be done when the
guide, or what is sent for it, has changed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbclient
import nbformat

GUIDE = Path(__file__).resolve().parent.parent / "notebooks" / "replay.ipynb"
RECORDING = GUIDE.with_name("replay.agent-replay.json")
SWITCH = '%config AgentMagic.replay = "{}"'


def call(number: int, region: str) -> dict[str, Any]:
    arguments = json.dumps({"region": region, "year": 2024})
    return {
        "index": number,
        "id": f"call_{region}",
        "type": "function",
        "function": {"name": "sales", "arguments": arguments},
    }


ANSWERS: list[tuple[list[dict[str, Any]], str, tuple[int, int]]] = [
    ([{"tool_calls": [call(0, "EU")]}, {"tool_calls": [call(1, "US")]}], "tool_calls", (412, 52)),
    (
        [
            {"content": piece}
            for piece in ("The **US** sold more in 2024: ", "6,834", " against ", "5,394", " in the EU.")
        ],
        "stop",
        (498, 24),
    ),
    ([{"content": piece} for piece in ("That is 1,440 more, ", "about ", "27 %", " above the EU.")], "stop", (541, 19)),
]

# Runs in the kernel of the guide, before its first cell.
STAND_IN = """
import json
from contextlib import asynccontextmanager
from agent_magic.providers import http
from agent_magic.providers.transport import HTTPResponse

answers = iter(json.loads({bodies!r}))

@asynccontextmanager
async def stand_in(request):
    text = next(answers, None)
    if text is None:
        raise http.connection_error(request.model, request.url, "The stand-in has no more answers.", retryable=False)

    async def body():
        yield text.encode()

    yield HTTPResponse(200, {{}}, body())

http.send = stand_in
"""


def body(deltas: list[dict[str, Any]], reason: str, tokens: tuple[int, int]) -> str:
    """A streamed answer of Chat Completions."""
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    chunks.append({"choices": [], "usage": usage})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def main() -> None:
    guide: Any = nbformat.read(GUIDE, as_version=4)
    bodies = json.dumps([body(*answer) for answer in ANSWERS])
    for cell in guide.cells:
        cell.source = cell.source.replace(SWITCH.format("replay"), SWITCH.format("record"))
        if "ReplayError" in cell.source:
            cell.source = ""
    guide.cells.insert(0, nbformat.v4.new_code_cell(STAND_IN.format(bodies=bodies)))
    RECORDING.unlink(missing_ok=True)
    environment = {**os.environ, "OPENAI_API_KEY": "none-is-needed"}
    resources = {"metadata": {"path": str(GUIDE.parent)}}
    nbclient.NotebookClient(guide, timeout=60, resources=resources).execute(env=environment)


if __name__ == "__main__":
    main()
