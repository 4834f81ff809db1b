"""Print the path of a Chromium that the browser tests can drive.

    python scripts/find_chromium.py [--install]

Ends with status 1 and a sentence that says how to install one where there is none. With --install, Debian's is
installed first, if this is Debian or a relative of it and the user may install packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
APPLICATIONS = ("Chromium.app/Contents/MacOS/Chromium", "Google Chrome.app/Contents/MacOS/Google Chrome")
INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends", "chromium")


def chromium() -> str | None:
    """The path of one on PATH, among the applications of a Mac, or of those that Playwright downloads."""
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    for application in APPLICATIONS:
        if Path("/Applications", application).exists():
            return str(Path("/Applications", application))
    return playwrights()


def playwrights() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Install Debian's with its package manager; does nothing where that is not possible."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    for command in (("apt-get", "update"), INSTALL):
        subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def main() -> None:
    if chromium() is None and "--install" in sys.argv[1:]:
        install()
    found = chromium()
    if found is None:
        ways = f"`{' '.join(INSTALL)}` on Debian, `{sys.executable} -m playwright install chromium` elsewhere"
        sys.exit(f"There is no Chromium here, so that the browser tests are left out. To install it: {ways}.")
    print(found)


if __name__ == "__main__":
    main()
