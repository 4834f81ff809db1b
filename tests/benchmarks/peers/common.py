"""What every driver shares: the scenarios, how they are timed, and the tools the model calls.

A driver is one file that subclasses Driver and ends with `main(ItsClass)`. It is run as

    python peers/NAME.py SCENARIO BASE_URL

in a fresh process, does the scenario once, and prints one JSON object of numbers. Only the standard
library is imported here, and only cheap parts of it, so that the `import` scenario measures the peer.
"""

from __future__ import annotations

import json
import os
import sys
import time

PROMPT = "hi"


# The tools the model calls --------------------------------------------------------------------------


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


def slow_add(a: int, b: int) -> int:
    """Add two numbers after a pause of 50 ms.

    Args:
        a: The first number.
        b: The second number.
    """
    time.sleep(0.05)
    return a + b


async def slow_add_async(a: int, b: int) -> int:
    """Add two numbers after a pause of 50 ms.

    Args:
        a: The first number.
        b: The second number.
    """
    import asyncio

    await asyncio.sleep(0.05)
    return a + b


slow_add_async.__name__ = slow_add_async.__qualname__ = "slow_add"


def save(text: str) -> int:
    """Save a text and return its length.

    Args:
        text: What to save.
    """
    return len(text)


def two_numbers(name: str) -> dict:
    number = {"type": "integer"}
    return {
        "name": name,
        "description": "Add two numbers.",
        "parameters": {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]},
    }


# Hand-written declarations, for peers that do not make them from functions.
DECLARATIONS = {
    "add": two_numbers("add"),
    "slow_add": two_numbers("slow_add"),
    "save": {
        "name": "save",
        "description": "Save a text and return its length.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
}


def declare(functions, shape: str = "chat") -> list[dict]:
    """The hand-written declarations of these functions as the API named by `shape` wants them."""
    found = [DECLARATIONS[f.__name__] for f in functions]
    if shape == "chat":
        return [{"type": "function", "function": d} for d in found]
    return [{"name": d["name"], "description": d["description"], "input_schema": d["parameters"]} for d in found]


HUNDRED = """
from __future__ import annotations
from typing import Literal, Optional

"""
ONE_OF_HUNDRED = '''
def tool_{i}(path: str, count: int, ratio: float = 0.5, tags: Optional[list[str]] = None,
        mode: Literal["read", "write"] = "read", options: Optional[dict[str, int]] = None) -> str:
    """Do job number {i} on a file.

    Args:
        path: Where the file is.
        count: How many times to do it.
        ratio: How much of it to do.
        tags: Words to file it under.
        mode: Whether to read or write.
        options: More numbers by name.
    """
    return path
'''


def hundred_functions() -> list:
    """100 typed, documented functions whose source `inspect.getsource` can find."""
    import linecache

    source = HUNDRED.replace("from __future__ import annotations\n", "") + "\n".join(
        ONE_OF_HUNDRED.format(i=i) for i in range(100)
    )
    name = "<hundred>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"__name__": "hundred"}
    sys.modules["hundred"] = type(sys)("hundred")
    exec(compile(source, name, "exec", dont_inherit=True), scope)
    vars(sys.modules["hundred"]).update(scope)
    return [scope[f"tool_{i}"] for i in range(100)]


def streamed_text(deltas: int) -> str:
    """What mockllm.py says in a script text-DELTAS."""
    return "".join(f" w{i % 1000:03d}" for i in range(deltas))


# What a driver provides -------------------------------------------------------------------------------


class Unsupported(Exception):
    """The peer has no such feature in its public API."""


class Driver:
    def load(self):
        """Import the peer: everything an ordinary program using it would import."""

    def open(self, base_url: str):
        """Make the client."""

    def ready(self, model: str, functions=()):
        """Make what a program makes once per model or set of tools, such as an agent. Not timed."""

    def stream(self, model: str, on_delta):
        """Ask PROMPT and call on_delta(text) with each text delta as it arrives."""
        raise Unsupported

    def run_tools(self, model: str, functions: list) -> str:
        """Ask PROMPT, run the tools the model calls until it answers in text; return that text."""
        raise Unsupported

    def history(self, pairs: list[tuple[str, str]]):
        """A conversation of (user, assistant) texts in the peer's own form."""
        raise Unsupported

    def go_on(self, model: str, history) -> str:
        """One more turn of that conversation, streamed; return the text."""
        raise Unsupported

    def register(self, functions: list) -> list:
        """Turn Python functions into tools; return their declarations as sent to the model."""
        raise Unsupported


class AsyncDriver(Driver):
    """For peers whose normal API is async: wait(...) runs a coroutine on this driver's one loop."""

    def wait(self, coroutine):
        import asyncio

        if not hasattr(self, "loop"):
            self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(coroutine)


# The scenarios ----------------------------------------------------------------------------------------


def memory(key: str) -> float:
    """Megabytes: VmRSS is what the process holds now, VmHWM the most it ever held."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(key)) / 1024
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def must(condition: bool, message: str):
    if not condition:
        raise AssertionError(message)


def timed(action) -> dict:
    wall, cpu = time.perf_counter(), time.process_time()
    result = action()
    return {"ms": (time.perf_counter() - wall) * 1e3, "cpu_ms": (time.process_time() - cpu) * 1e3, "result": result}


def s_import(driver: Driver, base_url: str) -> dict:
    before = len(sys.modules)
    spent = timed(driver.load)
    return {"ms": spent["ms"], "rss_mb": memory("VmHWM"), "modules": len(sys.modules) - before}


def s_stream(driver: Driver, base_url: str, model: str = "text-4000", deltas: int = 4000) -> dict:
    driver.load()
    driver.open(base_url)
    driver.stream("text-100", [].append)
    driver.ready(model)
    got: list[str] = []
    spent = timed(lambda: driver.stream(model, got.append))
    must("".join(got) == streamed_text(deltas), f"{len(got)} deltas, {len(''.join(got))} characters")
    return {
        "ms": spent["ms"],
        "cpu_ms": spent["cpu_ms"],
        "deltas_per_s": deltas / spent["ms"] * 1e3,
        "cpu_us_per_delta": spent["cpu_ms"] / deltas * 1e3,
        "pieces": sum(1 for text in got if text),
    }


def s_paced(driver: Driver, base_url: str) -> dict:
    return s_stream(driver, base_url, "text-1000@1ms", 1000)


def s_loop(driver: Driver, base_url: str) -> dict:
    driver.load()
    driver.open(base_url)
    driver.run_tools("tool-3", [add])
    driver.ready("tool-50", [add])
    spent = timed(lambda: driver.run_tools("tool-50", [add]))
    must("done" in str(spent["result"]), f"closing text is {spent['result']!r}")
    return {"ms_per_turn": spent["ms"] / 51, "cpu_ms_per_turn": spent["cpu_ms"] / 51}


def s_parallel(driver: Driver, base_url: str, function=slow_add) -> dict:
    driver.load()
    driver.open(base_url)
    driver.run_tools("par-2", [function])
    driver.ready("par-20", [function])
    spent = timed(lambda: driver.run_tools("par-20", [function]))
    must("done" in str(spent["result"]), f"closing text is {spent['result']!r}")
    return {"ms": spent["ms"], "cpu_ms": spent["cpu_ms"]}


def s_parallel_async(driver: Driver, base_url: str) -> dict:
    return s_parallel(driver, base_url, slow_add_async)


def s_args(driver: Driver, base_url: str) -> dict:
    driver.load()
    driver.open(base_url)
    driver.run_tools("args-1k", [save])
    driver.ready("args-200k", [save])
    spent = timed(lambda: driver.run_tools("args-200k", [save]))
    must("done" in str(spent["result"]), f"closing text is {spent['result']!r}")
    return {"ms": spent["ms"], "cpu_ms": spent["cpu_ms"]}


def s_long(driver: Driver, base_url: str) -> dict:
    pairs = [(f"question {i} " + "about something " * 6, f"answer {i} " + "is as follows " * 6) for i in range(1000)]
    driver.load()
    driver.open(base_url)
    driver.go_on("text-10", driver.history(pairs[:2]))
    before = memory("VmRSS")
    built = timed(lambda: driver.history(pairs))
    turn = timed(lambda: driver.go_on("text-10", built["result"]))
    must(streamed_text(10) in str(turn["result"]), f"the answer is {turn['result']!r}")
    return {
        "build_ms": built["ms"],
        "turn_ms": turn["ms"],
        "turn_cpu_ms": turn["cpu_ms"],
        "grown_mb": memory("VmHWM") - before,
    }


def s_tools(driver: Driver, base_url: str) -> dict:
    functions = hundred_functions()
    driver.load()
    driver.open(base_url)
    driver.register(functions[:1])
    spent = timed(lambda: driver.register(functions))
    declarations = spent["result"]
    must(len(declarations) == 100, f"{len(declarations)} declarations")
    text = json.dumps(declarations, default=str)
    for word in ("tool_99", "count", "ratio"):
        must(word in text, f"the declarations lack {word}")
    return {
        "ms": spent["ms"],
        "cpu_ms": spent["cpu_ms"],
        "described": "How many times to do it" in text,
        "choices": '"write"' in text,
    }


def s_first(driver: Driver, base_url: str) -> dict:
    driver.load()
    arrivals: list[float] = []

    def once() -> float:
        arrivals.clear()
        start = time.perf_counter()
        if not hasattr(driver, "opened"):
            driver.opened = True
            driver.open(base_url)
        driver.stream("text-20@5ms", lambda text: text and arrivals.append(time.perf_counter()))
        return (arrivals[0] - start) * 1e3

    cold = once()
    warm = sorted(once() for _ in range(7))[3]
    return {"cold_ms": cold, "warm_ms": warm}


SCENARIOS = {
    "import": s_import,
    "stream": s_stream,
    "paced": s_paced,
    "loop": s_loop,
    "parallel": s_parallel,
    "parallel_async": s_parallel_async,
    "args": s_args,
    "long": s_long,
    "tools": s_tools,
    "first": s_first,
}


def main(driver_class: type[Driver]):
    scenario, base_url = sys.argv[1:3]
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    try:
        numbers = SCENARIOS[scenario](driver_class(), base_url)
    except Unsupported:
        numbers = {"unsupported": True}
    print(json.dumps(numbers), flush=True)
    os._exit(0)  # a peer's background threads must not delay the next run
