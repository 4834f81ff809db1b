"""Print the path of a Python of a given version, such as 3.10: on PATH, or among those that pyenv keeps.

Ends with a message and status 1 where there is none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def candidates(version: str) -> Iterator[str]:
    for name in (f"python{version}", "python3", "python"):
        found = shutil.which(name)
        if found is not None:
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    yield from (str(path) for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))


def is_version(python: str, version: str) -> bool:
    """Whether it runs (what pyenv puts on PATH may not) and is of that version, with the module that makes venvs."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return ran.returncode == 0 and ran.stdout.strip() == version


def main(version: str) -> None:
    for python in candidates(version):
        if is_version(python, version):
            print(python)
            return
    sys.exit(f"There is no Python {version} here, on PATH or in pyenv. Install one, or put its folder on PATH.")


if __name__ == "__main__":
    main(*sys.argv[1:])
