"""Check what is in a wheel or a source archive: the package with its data, front end and licence, and no litter.

python scripts/check_wheel.py FILE...
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "agent_magic"
# What the build of the front end leaves in the package's folder, and where a wheel has it.
EXTENSION = "agent_magic/labextension/"
SERVED = "share/jupyter/labextensions/agent-magic/"
FRONT_END = (
    "agent_magic/static/loader.js",
    "agent_magic/static/view.js",
    f"{EXTENSION}package.json",
    f"{EXTENSION}schemas/agent-magic/plugin.json",
)
LITTER = re.compile(r"(^|/)(node_modules|lib|__pycache__|\.[^/]*cache)/|\.tsbuildinfo$")


def package_files() -> set[str]:
    """Files of the package, by their paths from the project; without the caches of Python and of tools."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(PACKAGE).parts)
    }


def wheel_faults(names: set[str]) -> list[str]:
    """What is missing from a wheel with files of these names, and what does not belong there."""
    placed = {re.sub(r"^[^/]*\.data/data/", "", name) for name in names}
    wanted = {name.replace(EXTENSION, SERVED) for name in {*package_files(), *FRONT_END}} | {f"{SERVED}install.json"}
    foreign = {name for name in placed - wanted if ".dist-info/" not in name}
    return listed(wanted - placed, lacking_licence(names, "licenses/LICENSE"), foreign)


def source_faults(names: set[str]) -> list[str]:
    """What is missing from a source archive with files of these names, and what does not belong there."""
    inside = {name.partition("/")[2] for name in names}
    wanted = {*package_files(), *FRONT_END, "pyproject.toml", "README.md", "labextension/package-lock.json"}
    foreign = {name for name in inside if LITTER.search(name)}
    return listed(wanted - inside, lacking_licence(inside, "LICENSE"), foreign)


def lacking_licence(names: set[str], end: str) -> list[str]:
    return [] if any(name.endswith(end) for name in names) else ["the licence"]


def listed(missing: set[str], lacking: list[str], foreign: set[str]) -> list[str]:
    return [f"missing: {name}" for name in [*sorted(missing), *lacking]] + [
        f"does not belong: {name}" for name in sorted(foreign)
    ]


def faults(path: Path) -> list[str]:
    if path.suffix == ".whl":
        return wheel_faults(set(zipfile.ZipFile(path).namelist()))
    with tarfile.open(path) as archive:
        return source_faults({member.name for member in archive if member.isfile()})


def main() -> None:
    wrong = False
    for path in map(Path, sys.argv[1:]):
        found = faults(path)
        print(*found or [f"{path.name} holds the package, its data, its front end and its licence."], sep="\n")
        wrong = wrong or bool(found)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
