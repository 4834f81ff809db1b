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
    assert request.reason == "work is a tool of your own that runs code."


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
    run, ran, _ = played(play, lambda request: request.allow(arguments={"number": "7"}), call("1", "work", number=5))
    assert ran == [7]
    told = 'The user changed the arguments of this call, and it ran with {"number": 7}. What came of it:\n'
    assert run.results()["1"].startswith(told)
    run, ran, _ = played(play, lambda request: request.allow(arguments={"number": 5}), call("1", "work", number=5))
    assert (ran, "changed" in run.results()["1"]) == ([5], False)
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
    assert hash_of_arguments({"a": "é"}) != hash_of_arguments({"a": "e"})


def test_words_that_are_no_decisions_are_refused() -> None:
    with pytest.raises(am.InvalidDataError):
        am.Policy({"user": {"read": "maybe"}})
    with pytest.raises(am.InvalidDataError):
        am.ApprovalAnswer("perhaps")


# Rules, modes and files ----------------------------------------------------------------------------------------------


def asked(policy: am.Policy, tool: am.AgentTool) -> str:
    request = am.ApprovalRequest("1", am.ToolCall("c", tool.name, {}), {}, hash_of_arguments({}), tool)
    return policy.under_mode(policy.decide(request), tool)


def test_a_rule_for_a_tool_goes_before_its_effect(make_tool: Any) -> None:
    policy = am.Policy({"user": {"execute": "deny"}}, "ask", tools={"a": "allow", "b": "deny"})
    assert asked(policy, make_tool("a", effect="execute")) == "allow"
    assert asked(policy, make_tool("b", effect="read")) == "deny"
    assert asked(policy, make_tool("c", effect="execute")) == "deny"
    assert asked(policy, make_tool("c", effect="read")) == "ask"


@pytest.mark.parametrize(
    ("mode", "fresh", "always"), [("ask", "ask", "ask"), ("auto", "allow", "allow"), ("deny", "deny", "allow")]
)
def test_the_mode_of_a_run_decides_what_would_be_asked(mode: str, fresh: str, always: str, make_tool: Any) -> None:
    policy = am.Policy(tools={"never": "deny", "free": "allow"}, otherwise="ask")
    policy.allow_always("known")
    run = policy.in_mode(mode)
    assert asked(run, make_tool("new")) == fresh
    assert asked(run, make_tool("known")) == always
    assert asked(run, make_tool("never")) == "deny"
    assert asked(run, make_tool("free")) == ("ask" if mode == "ask" else "allow")
    run.allow_always("known")
    assert asked(run, make_tool("known")) == "allow"
    assert asked(policy, make_tool("new")) == "ask"


def test_a_mode_binds_a_policy_that_decides_by_itself(make_tool: Any) -> None:
    class Own(am.Policy):
        def decide(self, request: am.ApprovalRequest) -> Any:
            return "ask"

    assert asked(Own().in_mode("deny"), make_tool("a")) == "deny"
    assert asked(Own().in_mode("auto"), make_tool("a")) == "allow"


def test_what_is_answered_in_a_run_with_a_mode_counts_afterwards(make_tool: Any) -> None:
    policy = am.Policy.for_kernel()
    policy.in_mode("ask").allow_always("a")
    assert asked(policy, make_tool("a", effect="execute")) == "allow"


def test_a_run_can_be_given_a_policy_of_its_own(play: Any, call: Any) -> None:
    ran: list[int] = []
    agent = am.Agent(
        am.scripted([call("1", "work", number=1)], "done", [call("2", "work", number=2)], "done"),
        [_work(ran)],
        policy=am.Policy.for_kernel(),
    )
    assert agent.policy is not None
    agent.run("go", policy=agent.policy.in_mode("auto"))
    agent.run("go")
    assert ran == [1]


def _work(ran: list[int]) -> am.AgentTool:
    def work(number: int) -> None:
        ran.append(number)

    return am.tool(effect="execute")(work)


def written(folder: Any, text: str) -> Any:
    path = folder / "policy.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_policy_file_changes_the_default_of_a_notebook(tmp_path: Any, make_tool: Any, mark: str) -> None:
    policy = am.Policy.from_file(
        written(
            tmp_path,
            mark + '{"tools": {"a": "deny"}, "table": {"builtin": {"execute": "allow"}}, "folders": ["data"], '
            '"otherwise": "deny", "approve": "deny"}',
        )
    )
    assert asked(policy, make_tool("a", effect="read")) == "deny"
    assert asked(policy, make_tool("b", origin="builtin", effect="execute")) == "allow"
    assert asked(policy, make_tool("b", origin="user", effect="read")) == "allow"
    assert asked(policy, make_tool("b", origin="user", effect="execute")) == "deny"
    assert asked(policy, make_tool("b", origin="mcp", effect="read")) == "deny"
    assert policy.folders == (str(tmp_path / "data"),)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "not JSON"),
        ("[]", "an object"),
        ('{"tool": {}}', "tool"),
        ('{"tools": {"a": "yes"}}', "tools.a"),
        ('{"tools": ["a"]}', "tools"),
        ('{"table": {"users": {}}}', "table.users"),
        ('{"table": {"user": {"run": "allow"}}}', "table.user.run"),
        ('{"table": {"user": {"read": "no"}}}', "table.user.read"),
        ('{"otherwise": "never"}', "otherwise"),
        ('{"folders": "data"}', "folders"),
        ('{"approve": "maybe"}', "mode"),
    ],
)
def test_a_slip_in_a_policy_file_is_an_error_and_not_no_rule(text: str, named: str, tmp_path: Any) -> None:
    with pytest.raises(am.InvalidDataError, match=r"policy\.json") as caught:
        am.Policy.from_file(written(tmp_path, text))
    assert named in str(caught.value)


def test_a_policy_file_that_is_not_there_is_an_error(tmp_path: Any) -> None:
    with pytest.raises(am.InvalidDataError, match="cannot be read"):
        am.Policy.from_file(tmp_path / "none.json")


# Text of others -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["network", "mcp", "flagged", "failed"])
def test_each_new_text_of_others_ends_what_was_allowed_for_good(how: str, play: Any, call: Any, make_tool: Any) -> None:
    def give(arguments: Any, context: Any) -> Any:
        if how == "failed":
            raise ValueError("whatever the server said")
        return am.AgentToolResult("text", untrusted=how == "flagged")

    origin: Any = "mcp" if how == "mcp" else "user"
    effect: Any = "network" if how in ("network", "failed") else "read"
    outside = am.AgentTool("outside", "O.", {}, give, effect=effect, origin=origin)
    policy = am.Policy(tools={"outside": "allow", "work": "ask", "save": "ask"})
    questions: list[str] = []

    def answer(request: am.ApprovalRequest) -> am.ApprovalAnswer:
        questions.append(f"{request.tool.name} {'Text from outside' in request.reason}")
        return request.allow("always")

    work, save = make_tool("work", effect="execute"), make_tool("save", effect="write")
    turns = [[call("1", "work"), call("2", "save")], [call("3", "work"), call("4", "save")], [call("5", "outside")]]
    turns += [[call("6", "work"), call("7", "save")], [call("8", "work")]]
    agent = am.Agent(am.scripted(*turns, "done"), [outside, work, save], policy=policy, approver=Approver(answer))
    play(agent)
    assert questions == ["work False", "save False", "work True"]


def test_text_of_the_users_own_tools_ends_nothing(play: Any, call: Any) -> None:
    policy = am.Policy.for_kernel()
    calls = [call("1", "work", number=1)]
    played(play, lambda request: request.allow("always"), *calls, policy=policy)
    assert policy.is_always_allowed(_work([]))
    policy.saw_untrusted()
    assert not policy.is_always_allowed(_work([]))
