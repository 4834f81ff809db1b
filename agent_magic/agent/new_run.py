"""Makes a run of what its agent is set to, and of what was given for this run alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import trace_of
from ..config import RequestConfig
from ..models import Model
from ..providers.request import refuse_unsupported
from .budget import Account
from .given import resolved_model
from .loop import Run
from .loop_config import OVERRIDABLE, split_config
from .output_type import OutputType
from .queues import MessageQueue
from .request_settings import RequestSettings
from .scope import RunScope
from .structured import StructuredAnswer


def new_run(
    scope: RunScope,
    defaults: RequestConfig,
    overrides: Mapping[str, Any],
    steering: MessageQueue,
    follow_ups: MessageQueue,
    account: Account,
) -> Run:
    """A run in `scope`, which comes with what the agent is set to, and is changed where this run differs.

    `defaults` are those of the agent's requests, `account` counts all its runs. `overrides` are fields of
    `AgentLoopConfig` and `RequestConfig`, `model` and `output_type`. Raises `TypeError` for any other name,
    `UnsupportedParameterError` for what the model does not take.
    """
    given = dict(overrides)
    model = resolved_model(given.pop("model", scope.state.model))
    output_type = given.pop("output_type", None)
    for_loop, for_request = split_config(given, "prompt", OVERRIDABLE, ("model", "images", "output_type"))
    own_account = Account()
    budgets = [
        (budget, kept)
        for budget, kept in ((scope.config.budget, account), (for_loop.get("budget"), own_account))
        if budget is not None
    ]
    for budget, _ in budgets:
        budget.check_model(model)
    if for_loop:
        scope.config = scope.config.replace(**for_loop)
    scope.policy = scope.config.policy
    if output_type is not None:
        for_request |= _ask_for(OutputType.of(output_type), scope, model, defaults, for_request)
    request = RequestSettings(model, defaults, for_request)
    if request.config.trace_id is not None:
        scope.traces = (trace_of(request.config.trace_id).handle,)
    if for_request:
        refuse_unsupported(model, RequestConfig(**for_request))
    return Run(scope, request, steering, follow_ups, (account, own_account), budgets)


def _ask_for(
    wanted: OutputType, scope: RunScope, model: Model, defaults: RequestConfig, for_request: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Let the run make an answer of that type; the fields of `RequestConfig` that it takes."""
    read_tools = scope.read_tools
    structured = scope.structured = StructuredAnswer(wanted, model, defaults, for_request, read_tools())
    scope.read_tools = lambda: structured.with_tool(read_tools())
    return structured.settings
