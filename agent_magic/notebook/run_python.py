"""The tool `run_python`: code of the model, run in the notebook's namespace as a cell would be."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import inspect
import linecache
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Coroutine, Generator, Iterator
from itertools import count
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..config import ToolExecutionMode
from ..errors import AbortedError
from ..messages import Content, ImageContent, TextContent
from ..tools.figures import figure_of
from ..tools.result import to_result
from ..tools.tool import AgentTool, AgentToolResult, ToolContext
from .capture import Captured, capture
from .main_thread import Interruption
from .outputs import IMAGE_TYPES, output_bundles
from .wording import without_ansi

if TYPE_CHECKING:
    from .kernel import NotebookKernel

T = TypeVar("T")

NOTHING = "Done. Nothing was printed, and the last line has no value."

# Images that the model gets of one call, frames of a traceback, seconds between two reports of progress.
_IMAGES = 6
_FRAMES = 6
_PROGRESS = 0.25
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_PACKAGE = str(Path(__file__).resolve().parent.parent)

_numbers = count(1)


def run_python_tool(kernel: NotebookKernel) -> AgentTool:
    def run_python(arguments: dict[str, Any], context: ToolContext) -> Any:
        return Execution(kernel, context, arguments["code"]).result()

    return AgentTool(
        "run_python",
        "Run Python code in the user's notebook, as a cell of its own: variables stay, top-level await, magics and "
        "!commands work. Gives what it prints, the value of the last line, figures, and the traceback of an error.",
        {
            "type": "object",
            "properties": {"code": {"type": "string", "minLength": 1, "description": "The source of the cell."}},
            "required": ["code"],
        },
        run_python,
        execution_mode=ToolExecutionMode.SEQUENTIAL,
        effect="execute",
        origin="builtin",
    )


class Execution:
    """One run of some code: what it printed and displayed, and how it ended."""

    def __init__(self, kernel: NotebookKernel, context: ToolContext, code: str) -> None:
        self._kernel = kernel
        self._context = context
        self._code = code
        self._name = f"<run_python {next(_numbers)}>"
        self._captured = _Told(context.on_update)

    def result(self) -> AgentToolResult | Coroutine[Any, Any, AgentToolResult]:
        """Run the code; where it awaits something and the loop of the run is that of this thread, a coroutine."""
        try:
            steps = self._compiled()
        except Exception as error:
            return self._failed(error)
        awaits = any(step.co_flags & inspect.CO_COROUTINE for step in steps)
        if awaits and _running_loop() is self._context.agent.loop:
            return self._awaited(steps)
        run = _run_apart if awaits else _completed
        try:
            with self._redirected():
                value = run(self._run(steps))
            return self._ended(value)
        except (Exception, SystemExit) as error:
            return self._failed(error)
        finally:
            self._show_again()

    # Running ----------------------------------------------------------------------------------------------------------

    def _compiled(self) -> list[CodeType]:
        """The statements, and the last expression by itself so that it has a value."""
        source = self._kernel.shell.transform_cell(self._code)
        linecache.cache[self._name] = (len(source), None, source.splitlines(keepends=True), self._name)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(source, self._name, "exec", flags | ast.PyCF_ONLY_AST)
        parts: list[ast.Module | ast.Expression] = [tree]
        if tree.body and isinstance(last := tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            tree.body.pop()
            parts.append(ast.Expression(last.value))
        return [
            compile(part, self._name, "eval" if isinstance(part, ast.Expression) else "exec", flags) for part in parts
        ]

    async def _run(self, steps: list[CodeType]) -> Any:
        value = None
        for step in steps:
            value = eval(step, self._kernel.shell.user_ns)
            if step.co_flags & inspect.CO_COROUTINE:
                value = await value
        return value

    async def _awaited(self, steps: list[CodeType]) -> AgentToolResult:
        try:
            return self._ended(await _Stepwise(self._run(steps), self._one_step))
        except AbortedError:
            raise
        except (Exception, SystemExit) as error:
            return self._failed(error)
        finally:
            if self._kernel.view is None:
                self._show_again()
            else:
                self._kernel.view.add_outputs(self._context.tool_call_id, self._captured.bundles, "builtin")

    def _one_step(self, step: Callable[[], T]) -> T:
        """Run the code up to where it waits next, so that Stop and time-outs reach it also while it blocks."""
        interruption, signal = Interruption(), self._context.signal
        forget = signal.on_abort(lambda: interruption.send(AbortedError(signal.reason)))
        try:
            with self._redirected():
                return interruption.guard(step, None, AbortedError)
        except KeyboardInterrupt:
            self._kernel.stop()
            raise AbortedError("Operation aborted") from None
        finally:
            forget()

    @contextlib.contextmanager
    def _redirected(self) -> Iterator[None]:
        shell = self._kernel.shell
        own = vars(shell).get("system")
        with capture(shell, self._captured):
            # In a terminal, `!command` would write past what is captured.
            shell.system = shell.system_piped
            try:
                yield
            finally:
                del shell.system
                if own is not None:
                    shell.system = own

    # Telling ----------------------------------------------------------------------------------------------------------

    def _show_again(self) -> None:
        """Print and display what was captured, for whoever shows what this thread prints and displays."""
        for bundle in self._captured.bundles:
            if set(bundle) == {"text/plain"}:
                sys.stdout.write(bundle["text/plain"])
            else:
                self._kernel.shell.display_pub.publish(bundle)

    def _ended(self, value: Any) -> AgentToolResult:
        content = self._content()
        # A figure that was drawn already is not drawn again because the last line returned its axes.
        if value is None or any(figure_of(value) is figure for figure in self._captured.figures):
            return AgentToolResult(content or NOTHING)
        last = to_result(value)
        if not output_bundles(value):
            # Nobody draws it, so it stands below what was printed.
            self._captured.write(f"{last.text}\n")
        return AgentToolResult(_joined([*content, *last.content]), value=value)

    def _failed(self, error: BaseException) -> AgentToolResult:
        summary = "".join(traceback.format_exception_only(type(error), error)).strip()
        first = f"{type(error).__name__}: {error}".splitlines()[0]
        content = [TextContent(f"{first}\n\n{self._traceback(error)}{summary}\n"), *self._content()]
        return AgentToolResult(_joined(content), is_error=True)

    def _traceback(self, error: BaseException) -> str:
        """The frames from the code on, without those of libraries but the last, and the middle of many left out."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
        start = next((place for place, frame in enumerate(frames) if frame.filename == self._name), len(frames))
        own = [frame for frame in frames[start:-1] if not frame.filename.startswith(_LIBRARIES)] + frames[start:][-1:]
        lines = traceback.format_list(own)
        if len(lines) > _FRAMES:
            lines[_FRAMES // 2 : -_FRAMES // 2] = [f"  … {len(lines) - _FRAMES} frames left out\n"]
        return "".join(["Traceback (most recent call last):\n", *lines]) if lines else ""

    def _content(self) -> list[Content]:
        """What was printed and displayed, as the model gets it."""
        content: list[Content] = []
        images = 0
        for bundle in self._captured.bundles:
            kind = next((kind for kind in IMAGE_TYPES if isinstance(bundle.get(kind), str)), None)
            images += kind is not None
            if kind is not None and images <= _IMAGES:
                content.append(ImageContent(bundle[kind].replace("\n", ""), kind))
            elif text := _as_on_a_screen(str(bundle.get("text/plain", ""))):
                content.append(TextContent(text))
        return content


def _joined(content: list[Content]) -> list[Content]:
    """The blocks, with texts that follow each other made one."""
    joined: list[Content] = []
    for block in content:
        if joined and isinstance(block, TextContent) and isinstance(last := joined[-1], TextContent):
            joined[-1] = TextContent(f"{last.text}\n{block.text}")
        else:
            joined.append(block)
    return joined


def _as_on_a_screen(text: str) -> str:
    """Printed text without colours; of a line that was written over, as bars of progress are, its last state."""
    lines = without_ansi(text).replace("\r\n", "\n").rstrip("\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _is_ours(filename: str) -> bool:
    return filename.startswith(_PACKAGE)


class _Told(Captured):
    """Tells the last line that was printed, now and then."""

    def __init__(self, on_update: Callable[[Any], None]) -> None:
        super().__init__()
        self._on_update = on_update
        self._told = time.monotonic()

    def write(self, text: str) -> None:
        super().write(text)
        if text.strip() and time.monotonic() - self._told > _PROGRESS:
            self._told = time.monotonic()
            self._on_update(text.strip().splitlines()[-1])


class _Stepwise:
    """Awaits `work`, with every piece of it that runs between two waits called through `call`."""

    def __init__(self, work: Coroutine[Any, Any, T], call: Callable[[Callable[[], Any]], Any]) -> None:
        self._work = work
        self._call = call

    def __await__(self) -> Generator[Any, Any, Any]:
        go_on: Callable[[], Any] = functools.partial(self._work.send, None)
        while True:
            finished, result = self._call(functools.partial(_next, go_on))
            if finished:
                return result
            try:
                go_on = functools.partial(self._work.send, (yield result))
            except BaseException as error:
                go_on = functools.partial(self._work.throw, error)


def _next(go_on: Callable[[], Any]) -> tuple[bool, Any]:
    """What a coroutine waits for next, or that it has finished and with what."""
    try:
        return False, go_on()
    except StopIteration as end:
        return True, end.value


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """The value of a coroutine that awaits nothing."""
    finished, result = _next(functools.partial(work.send, None))
    assert finished
    return cast("T", result)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` on a loop of its own, in a thread whose own loop stands still below."""
    below = _running_loop()
    asyncio.events._set_running_loop(None)
    try:
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(work)
        finally:
            loop.run_until_complete(_wind_up())
            loop.close()
    finally:
        asyncio.events._set_running_loop(below)


async def _wind_up() -> None:
    """End what the code left running on a loop that ends with it."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
