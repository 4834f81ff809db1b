"""No call runs without a yes, and what was approved is what runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import agent_magic as am
from agent_magic.agent.policy import hash_of_arguments


class Approver:
    """Answers by a function, and keeps what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.requests: list[am.ApprovalRequest] = []
        self.open = 0

    async def ask(self, request: am.ApprovalRequest) -> am.ApprovalAnswer:
        self.requests.append(request)
        self.open += 1
        assert self.open == 1, "two questions at once"
        await asyncio.sleep(0.001)
        self.open -= 1
        answer: am.ApprovalAnswer = self.answer(request)
        return answer


def played(play: Any, answer: Any, *calls: am.ToolCall, policy: Any = None) -> tuple[Any, list[int], Approver]:
    ran: list[int] = []

    def work(number: int) -> str:
        ran.append(number)
        return f"did {number}"

    approver = Approver(answer)
    agent = am.Agent(
        am.scripted(list(calls), "done"),
        [am.tool(effect="execute")(work)],
        policy=policy or am.Policy.for_kernel(),
        approver=approver,
    )
    return play(agent), ran, approver


@pytest.mark.parametrize(
    ("origin", "effect", "decision"),
    [
        ("user", "read", "allow"),
        ("user", "write", "allow"),
        ("user", "execute", "ask"),
        ("user", "network", "ask"),
        ("builtin", "read", "allow"),
        ("builtin", "write", "ask"),
        ("builtin", "execute", "ask"),
        ("builtin", "network", "ask"),
        ("mcp", "read", "ask"),
        ("mcp", "network", "ask"),
    ],
)
def test_the_table_of_a_kernel(origin: Any, effect: Any, decision: str, call: Any, make_tool: Any) -> None:
    tool = make_tool("a", origin=origin, effect=effect)
    request = am.ApprovalRequest("1", call("a"), {}, hash_of_arguments({}), tool)
    assert am.Policy.for_kernel().decide(request) == decision
    assert am.Policy().decide(request) == "allow"


def test_without_a_policy_everything_runs(play: Any, call: Any, make_tool: Any) -> None:
    tool = make_tool("a", effect="execute", origin="mcp")
    assert play(am.Agent(am.scripted([call("a")], "done"), [tool])).results() == {"a": "did a"}


def test_an_approved_call_runs_and_the_request_shows_it(play: Any, call: Any) -> None:
    run, ran, approver = played(play, lambda request: request.allow(), call("1", "work", number=5))
    assert ran == [5]
    assert run.results() == {"1": "did 5"}
    request = approver.requests[0]
    assert (request.call.id, request.arguments, request.tool.name) == ("1", {"number": 5}, "work")
    assert "execute" in request.reason


def test_the_questions_of_a_parallel_batch_come_one_after_the_other(play: Any, call: Any) -> None:
    calls = [call(str(number), "work", number=number) for number in range(4)]
    _, ran, approver = played(play, lambda request: request.allow(), *calls)
    assert sorted(ran) == [0, 1, 2, 3]
    assert len({request.id for request in approver.requests}) == 4


def test_a_denial_goes_to_the_model_with_its_word(play: Any, call: Any) -> None:
    run, ran, _ = played(play, lambda request: request.deny("too dear"), call("1", "work", number=5))
    assert ran == []
    assert run.results()["1"] == "The user denied this call. too dear"


def test_without_an_approver_what_must_be_asked_is_denied(play: Any, call: Any, make_tool: Any) -> None:
    agent = am.Agent(am.scripted([call("a")], "done"), [make_tool("a")], policy=am.Policy(otherwise="ask"))
    assert "nobody to ask" in play(agent).results()["a"]


def test_edited_arguments_are_validated_again_and_then_run(play: Any, call: Any) -> None:
    _, ran, _ = played(play, lambda request: request.allow(arguments={"number": "7"}), call("1", "work", number=5))
    assert ran == [7]
    run, ran, _ = played(play, lambda request: request.allow(arguments={"number": "x"}), call("1", "work", number=5))
    assert ran == []
    assert "number" in run.results()["1"]


def test_an_answer_for_other_arguments_runs_nothing(play: Any, call: Any) -> None:
    wrong = [
        lambda request: am.ApprovalAnswer("allow"),
        lambda request: am.ApprovalAnswer("allow", arguments_hash=hash_of_arguments({"number": 6})),
        lambda request: am.ApprovalAnswer("allow", arguments={"number": 6}, arguments_hash=request.arguments_hash),
    ]
    for answer in wrong:
        run, ran, _ = played(play, answer, call("1", "work", number=5))
        assert ran == []
        assert "other arguments" in run.results()["1"]


def test_an_approver_cannot_change_what_runs_behind_the_hash(play: Any, call: Any) -> None:
    def change(request: am.ApprovalRequest) -> am.ApprovalAnswer:
        request.arguments["number"] = 99
        return request.allow()

    _, ran, _ = played(play, change, call("1", "work", number=5))
    assert ran == [5]


def test_always_is_asked_once_until_it_is_forgotten(play: Any, call: Any) -> None:
    policy = am.Policy.for_kernel()
    calls = [call("1", "work", number=1), call("2", "work", number=2)]
    _, ran, approver = played(play, lambda request: request.allow("always"), *calls, policy=policy)
    assert (sorted(ran), len(approver.requests)) == ([1, 2], 1)
    policy.forget()
    _, _, approver = played(play, lambda request: request.allow(), call("3", "work", number=3), policy=policy)
    assert len(approver.requests) == 1


def test_always_does_not_overrule_a_denial(call: Any, make_tool: Any) -> None:
    policy = am.Policy(otherwise="deny")
    policy.allow_always("a")
    assert policy.decide(am.ApprovalRequest("1", call("a"), {}, "", make_tool("a"))) == "deny"


def test_an_approver_that_fails_is_a_no(play: Any, call: Any) -> None:
    def fail(request: am.ApprovalRequest) -> am.ApprovalAnswer:
        raise ValueError("the view is gone")

    run, ran, _ = played(play, fail, call("1", "work", number=5))
    assert ran == []
    assert "the view is gone" in run.results()["1"]


def test_equal_arguments_have_equal_hashes_whatever_their_order() -> None:
    assert hash_of_arguments({"a": 1, "b": [2]}) == hash_of_arguments({"b": [2], "a": 1})
    assert hash_of_arguments({"a": 1}) != hash_of_arguments({"a": "1"})


def test_words_that_are_no_decisions_are_refused() -> None:
    with pytest.raises(am.InvalidDataError):
        am.Policy({"user": {"read": "maybe"}})
    with pytest.raises(am.InvalidDataError):
        am.ApprovalAnswer("perhaps")
