"""Check that imports go downwards only, and that few modules import what is heavy.

    python scripts/check_layers.py [ROOT]

Layers, from the top: notebook, session, agent, tools, providers, then the root modules. A module imports from its
own layer and from those below; imports for type checkers count, and so do names taken from the package itself. Only
`providers/http.py` imports httpx, and only `notebook` imports IPython and what belongs to it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "agent_magic"
LAYERS = ("providers", "tools", "agent", "session", "notebook")
HTTP = f"{PACKAGE}.providers.http"
NOTEBOOK_ONLY = {"IPython", "anywidget", "comm", "ipykernel", "ipywidgets", "jupyter_client", "traitlets"}


def violations(root: Path) -> list[str]:
    """What breaks the rules in the package under `root`, one line each."""
    package = root / PACKAGE
    exports = _exports(package / "__init__.py")
    found = []
    for path in sorted(package.rglob("*.py")):
        if path == package / "__init__.py":
            continue  # the front door names every layer, and loads none
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, target in _imports(tree, module, path.name == "__init__.py", package, exports):
            fault = _fault(module, target)
            if fault:
                found.append(f"{path.relative_to(root)}:{line}: {fault}")
    return found


def height(module: str) -> int:
    """The layer of a module of the package, counted from the root modules at 0."""
    parts = module.split(".")
    return LAYERS.index(parts[1]) + 1 if len(parts) > 1 and parts[1] in LAYERS else 0


def _fault(module: str, target: str) -> str | None:
    outside = target.split(".")[0]
    if outside == PACKAGE:
        return f"imports {target}, which lies above it" if height(target) > height(module) else None
    if outside in ("httpx", "httpcore") and module != HTTP:
        return f"imports {outside}; only providers/http.py may"
    if outside in NOTEBOOK_ONLY and height(module) < height(f"{PACKAGE}.notebook"):
        return f"imports {outside}; only notebook/ may"
    return None


def _imports(
    tree: ast.AST, module: str, is_package: bool, package: Path, exports: dict[str, str]
) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that is imported anywhere in `tree`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package)
            for alias in node.names:
                yield node.lineno, _target(base, alias.name, package, exports)
        elif isinstance(node, ast.Call):
            name = _name_in_call(node)
            if name is not None:
                yield node.lineno, name


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    above = parts[: len(parts) - node.level + is_package]
    return ".".join([*above, node.module] if node.module else above)


def _target(base: str, name: str, package: Path, exports: dict[str, str]) -> str:
    """The module that `from base import name` loads: a module of that name, one behind a public name, or `base`."""
    if base.split(".")[0] != PACKAGE:
        return base
    inner = package.joinpath(*base.split(".")[1:])
    if (inner / f"{name}.py").exists() or (inner / name).is_dir():
        return f"{base}.{name}"
    return f"{PACKAGE}.{exports[name]}" if base == PACKAGE and name in exports else base


def _name_in_call(node: ast.Call) -> str | None:
    """The name that a call of `import_module("...")` loads, None for any other call."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if called == "import_module" and node.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _exports(front_door: Path) -> dict[str, str]:
    """Public names of the package with the module each comes from, out of its lazy table."""
    if not front_door.exists():
        return {}
    for node in ast.parse(front_door.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "_EXPORTS" and node.value:
            table: dict[str, tuple[str, ...]] = ast.literal_eval(node.value)
            return {name: module for module, names in table.items() for name in names}
    return {}


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = violations(root)
    print(*found or ["Imports go downwards only."], sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
