"""Check what is in a wheel: the package with its data and licence, and nothing else.

python scripts/check_wheel.py WHEEL
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "agent_magic"


def faults(names: set[str]) -> list[str]:
    """What is missing from a wheel with files of these names, and what does not belong there."""
    wanted = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(PACKAGE).parts)
    }
    missing = sorted(wanted - names)
    foreign = sorted(name for name in names - wanted if ".dist-info/" not in name)
    lacking = [] if any(name.endswith("licenses/LICENSE") for name in names) else ["the licence"]
    return [f"missing: {name}" for name in [*missing, *lacking]] + [f"does not belong: {name}" for name in foreign]


def main() -> None:
    wheel = Path(sys.argv[1])
    found = faults(set(zipfile.ZipFile(wheel).namelist()))
    print(*found or [f"{wheel.name} holds the package, its data and its licence."], sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
