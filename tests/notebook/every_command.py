"""The cells of a notebook that uses every flag of `%%agent` and every subcommand of `%agent`."""

SETUP = """
import agent_magic as am
from agent_magic import tool

agent = am.get_agent()
own = am.scripted(*[f"answer {number}" for number in range(100)])

@tool
def sales(region: str, year: int = 2025):
    '''Monthly sales of a region.

    Args:
        region: Two-letter region code.
        year: Calendar year.
    '''
    print("looking")
    return {"region": region, "year": year}

@tool(effect="execute")
def drop(table: str):
    '''Drop a table.

    Args:
        table: Its name.
    '''
    return f"{table} is gone"

def calls(name, **arguments):
    return am.scripted(am.AssistantMessage([am.ToolCall("c1", name, arguments)]), f"{name} was called")

picture = b"\\x89PNG\\r\\n\\x1a\\n" + b"x" * 20
"""

CELLS = (
    "%load_ext agent_magic",
    SETUP,
    "%agent",
    "%agent help",
    "%%agent?",
    "%agent config",
    "%agent config max_turns",
    "%config AgentMagic.max_turns = 9",
    "%agent model",
    "%agent models demo",
    "%agent tools",
    "%agent tools off sales",
    "%agent tools on sales",
    "%agent tools on run_python",
    "%%agent -o reply\nSales for EU in 2024",
    "assert reply.tool_calls[0].arguments == {'region': 'EU', 'year': 2024}, reply",
    "%agent history",
    "%agent context",
    "%agent cost",
    "%agent show",
    "%agent show 1",
    "%agent undo",
    "%agent model own",
    "%%agent --new --output=reply Look at @agent\nThen at {this}, $that and 100 %.",
    "assert len(agent.messages) == 2 and reply.text == 'answer 0', agent.messages",
    "%agent retry",
    "%agent retry -m demo",
    "%%agent --model own -i picture --image picture --max-turns 3\nWhat is this?",
    "%%agent --thinking low --max-tokens 100 --temperature 0.5\nThink.",
    "%%agent --budget 0.50 --token-budget 100000 --no-tools\nBe frugal.",
    "%%agent --quiet -t sales,drop\nNothing to see.",
    "%%agent --record\nKeep this.",
    "%%agent --replay\nKeep this.",
    "agent.model = am.scripted('{\"count\": 42}')",
    "%%agent --as dict[str,int] -o counted\nHow many?",
    "assert counted.value == {'count': 42}, counted",
    "agent.model = calls('drop', table='t')",
    "%%agent --approve auto\nDrop t.",
    "assert agent.messages[-2].text == 't is gone', agent.messages[-2]",
    "agent.model = calls('drop', table='t')",
    "%%agent --tools drop --approve deny\nDrop t.",
    "assert agent.messages[-2].is_error, agent.messages[-2]",
    "%agent approve",
    "%agent approve drop",
    "%agent approve forget",
    "ran = get_ipython().run_cell('1 / 0')\nassert not ran.success",
    "agent.model = own",
    "%agent fix",
    "%agent -- fix is also a word",
    "%agent And this is a message",
    "%agent compact",
    "%agent fork",
    "%agent sessions",
    "%agent resume",
    "%agent edit",
    "%agent export talk.md",
    "%agent !echo for the model",
    "%agent !!echo for me",
    "%agent login",
    "%agent login openai --forget",
    "%agent mcp",
    "%agent trace on",
    "%agent trace",
    "%agent trace off",
    "%agent model demo --save",
    "%agent autoload on",
    "%agent autoload off",
    "%agent panel",
    "%agent new",
    "assert not agent.messages",
    "%%time\n%%agent\nWithin another magic",
    "%unload_ext agent_magic",
    "assert 'agent' not in get_ipython().magics_manager.magics['cell']",
)
