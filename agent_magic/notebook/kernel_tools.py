"""The tools that come with a kernel's agent and are off until the user switches them on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..tools.tool import AgentTool
from .files import file_tools
from .run_python import run_python_tool
from .shell import shell_tool

if TYPE_CHECKING:
    from .kernel import NotebookKernel


def kernel_tools(kernel: NotebookKernel) -> list[AgentTool]:
    """`run_python`, `shell`, `read_file` and `write_file`."""
    return [run_python_tool(kernel), shell_tool(lambda: kernel.home), *file_tools(kernel.folders)]
