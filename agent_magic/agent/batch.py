"""The tool calls of one message: each gets exactly one result, whatever happens."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..config import ToolExecutionMode
from ..errors import AbortedError
from ..events import (
    MessageEndEvent,
    MessageStartEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
)
from ..messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage
from ..tools.execution import execute
from ..tools.tool import AgentTool, AgentToolResult, ToolContext
from .hooks import call_hook
from .policy import is_untrusted
from .preflight import CallRefusedError, prepare
from .scope import RunScope

ABORTED = "Operation aborted"
CUT_BY_LIMIT = (
    "The answer was cut off by its output limit, so this call was not run. Call the tool again, if need be with "
    "shorter arguments or in several calls."
)


def error_result(text: str) -> AgentToolResult:
    return AgentToolResult(text, is_error=True)


def _told_of_edit(ready: _Ready, result: AgentToolResult) -> AgentToolResult:
    """The result with what ran before it, where that is not what the model asked for."""
    if not ready.edited:
        return result
    arguments = json.dumps(ready.arguments, ensure_ascii=False, default=str)
    note = TextContent(f"The user changed the arguments of this call, and it ran with {arguments}. What came of it:\n")
    return replace(result, content=(note, *result.content))


def error_text(error: BaseException) -> str:
    """The exception's own text; its type goes before where the text says nothing alone."""
    try:
        text = str(error)
    except Exception:  # An exception of a tool may fail even at this.
        text = ""
    if text and not isinstance(error, LookupError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@dataclass(eq=False)
class _Call:
    """One call and how far it has come."""

    call: ToolCall
    started: bool = False
    result: AgentToolResult | None = None
    ended: bool = False
    message: ToolResultMessage | None = None
    told: bool = False


@dataclass(eq=False)
class _Ready:
    """A call that may run. `edited` says that the user changed its arguments."""

    entry: _Call
    tool: AgentTool
    arguments: dict[str, Any]
    edited: bool


class Batch:
    """Runs the calls of `message` with the tools of its turn.

    `run()` does it; `settle()` brings every call that is left, for an abort or any other reason, to its one result.
    """

    def __init__(self, message: AssistantMessage, tools: Mapping[str, AgentTool], scope: RunScope) -> None:
        self._calls = [_Call(call) for call in message.all_tool_calls]
        self._tools = tools
        self._scope = scope
        self._sequential = scope.config.tool_execution is ToolExecutionMode.SEQUENTIAL or any(
            tool.execution_mode is ToolExecutionMode.SEQUENTIAL
            for each in self._calls
            if (tool := tools.get(each.call.name)) is not None
        )
        self._reported: asyncio.Queue[tuple[_Call, Any, bool]] = asyncio.Queue()

    @property
    def results(self) -> tuple[ToolResultMessage, ...]:
        """The result messages so far, in the order of the calls."""
        return tuple(each.message for each in self._calls if each.message is not None and each.told)

    @property
    def terminates(self) -> bool:
        """Whether there are calls and every result asks for the end of the run."""
        return bool(self._calls) and all(each.result is not None and each.result.terminate for each in self._calls)

    async def run(self) -> None:
        """Run the calls side by side, or one after the other if one of the tools asks for it.

        Raises `AbortedError` on abort, when all that had started has ended.
        """
        groups = [[each] for each in self._calls] if self._sequential else [self._calls]
        for group in groups:
            ready = [found for each in group if (found := await self._prepared(each)) is not None]
            await self._execute(ready)
            for each in group:
                await self._tell(each)

    async def settle(self, text: str = ABORTED) -> None:
        """Give every call that has none an error result of this text, and tell what has not been told."""
        groups = [[each] for each in self._calls] if self._sequential else [self._calls]
        for group in groups:
            for each in group:
                await self._start(each)
                await self._end(each, each.result or error_result(text))
            for each in group:
                await self._tell(each)

    async def refuse(self, text: str) -> None:
        """Run nothing; give every call an error result of this text."""
        self._sequential = True
        await self.settle(text)

    # The steps of one call, each taken at most once ------------------------------------------------------------------

    async def _start(self, each: _Call) -> None:
        if not each.started:
            each.started = True
            await self._scope.emit(ToolExecutionStartEvent(each.call.id, each.call.name, each.call.arguments))

    async def _end(self, each: _Call, result: AgentToolResult) -> None:
        if not each.ended:
            each.ended, each.result = True, result
            await self._scope.emit(ToolExecutionEndEvent(each.call.id, each.call.name, result, result.is_error))

    async def _tell(self, each: _Call) -> None:
        result = each.result
        if result is None or each.told:
            return
        if each.message is None:
            each.message = ToolResultMessage(
                each.call.id,
                each.call.name,
                result.content,
                result.details,
                result.usage,
                result.added_tool_names,
                result.is_error,
            )
            await self._scope.emit(MessageStartEvent(each.message))
        each.told = True
        await self._scope.emit(MessageEndEvent(each.message))

    async def _prepared(self, each: _Call) -> _Ready | None:
        """The call, ready to run; None when it has ended with an error."""
        await self._start(each)
        self._scope.signal.throw_if_aborted()
        try:
            tool, arguments, edited = await prepare(each.call, self._tools, self._scope)
        except AbortedError:
            raise
        except CallRefusedError as refused:
            await self._end(each, refused.result)
        except Exception as error:
            await self._end(each, error_result(error_text(error)))
        else:
            self._scope.signal.throw_if_aborted()
            return _Ready(each, tool, arguments, edited)
        return None

    # Execution --------------------------------------------------------------------------------------------------------

    async def _execute(self, ready: list[_Ready]) -> None:
        """Run these side by side, and tell what they report in the order in which it happens."""
        await self._scope.reader_caught_up()
        if not ready:
            return
        limit = asyncio.Semaphore(self._scope.config.max_parallel)
        tasks = {asyncio.ensure_future(self._perform(each, limit)) for each in ready}
        running = len(tasks)
        while running:
            try:
                each, report, final = await self._reported.get()
            except BaseException as error:
                self._scope.interrupted(error)
                continue
            if final:
                running -= 1
                await self._end(each, report)
            elif not each.ended:
                await self._scope.emit(
                    ToolExecutionUpdateEvent(each.call.id, each.call.name, each.call.arguments, report)
                )
        self._scope.signal.throw_if_aborted()

    async def _perform(self, ready: _Ready, limit: asyncio.Semaphore) -> None:
        """Run one call and report its result. Raises nothing: what a task raises is lost, or stops the event loop."""
        try:
            async with limit:
                result = await self._outcome(ready)
        except BaseException as error:
            result = error_result(self._abort_text(error))
            if not isinstance(error, AbortedError):
                self._scope.interrupted(error)
        ready.entry.result = result
        self._reported.put_nowait((ready.entry, result, True))

    async def _outcome(self, ready: _Ready) -> AgentToolResult:
        context = ToolContext(ready.entry.call.id, self._scope.signal, self._updates_of(ready.entry), self._scope.agent)
        try:
            result = await execute(ready.tool, ready.arguments, context, self._scope.runner)
        except AbortedError:
            if self._scope.signal.aborted:
                raise
            result = error_result(ABORTED)
        except Exception as error:
            result = error_result(error_text(error))
        if self._scope.policy is not None and is_untrusted(ready.tool, result):
            self._scope.policy.saw_untrusted()
        try:
            return _told_of_edit(ready, self._checked(ready, await self._changed(ready, result)))
        except AbortedError:
            raise
        except Exception as error:
            return error_result(error_text(error))

    async def _changed(self, ready: _Ready, result: AgentToolResult) -> AgentToolResult:
        hook = self._scope.config.after_tool_call
        if hook is None:
            return result
        changed = await call_hook(self._scope.signal, hook, ready.entry.call, result, self._scope.context())
        if changed is None:
            return result
        if not isinstance(changed, AgentToolResult):
            raise TypeError(f"after_tool_call must return None or an AgentToolResult, not {type(changed).__name__}")
        return changed

    def _checked(self, ready: _Ready, result: AgentToolResult) -> AgentToolResult:
        if result.added_tool_names:
            known = self._scope.read_tools()
            missing = [name for name in result.added_tool_names if name not in known]
            if missing:
                return error_result(f"The tool {ready.tool.name} names tools that do not exist: {', '.join(missing)}.")
        return result

    def _abort_text(self, error: BaseException) -> str:
        """The fixed word, and behind it what `execute` has to add about a tool that could not be stopped."""
        reason = self._scope.signal.reason
        addition = error.reason.removeprefix(reason) if isinstance(error, AbortedError) else ""
        return ABORTED + addition if addition.startswith(" ") else ABORTED

    def _updates_of(self, each: _Call) -> Any:
        """The `on_update` of a call; from the loop's own thread it reports at once, from others by the loop."""
        loop, thread = asyncio.get_running_loop(), threading.get_ident()

        def update(partial: Any) -> None:
            report = (each, partial, False)
            if threading.get_ident() == thread:
                self._reported.put_nowait(report)
            elif not loop.is_closed():
                loop.call_soon_threadsafe(self._reported.put_nowait, report)

        return update
