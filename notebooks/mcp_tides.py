"""A small MCP server for the guide mcp.ipynb: made-up tides of three harbours."""

import asyncio

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("tides")
HOURS = {"Brest": (5, 18), "Dover": (0, 12), "Cuxhaven": (2, 14)}


@server.tool(title="High water")
def high_water(harbour: str) -> dict[str, list[str]]:
    """Tell when there is high water in a harbour: Brest, Dover or Cuxhaven."""
    return {harbour: [f"{hour:02d}:20" for hour in HOURS[harbour]]}


@server.tool(title="Survey")
async def survey(stations: int, context: Context) -> str:
    """Survey the coast at a number of stations."""
    for number in range(1, stations + 1):
        await asyncio.sleep(0.2)
        await context.report_progress(number, stations, f"station {number}")
    return f"{stations} stations surveyed; the water is calm."


if __name__ == "__main__":
    server.run()
