"""A JupyterLab or a Notebook 7 for the browser tests: on loopback, with folders of its own."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import nbformat
import psutil

App = Literal["lab", "notebook"]
STARTED_IN = 90.0
# Would cover what a test clicks on, and asks the network.
QUIET = {"@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class JupyterServer:
    """A running server. `extension` False is one on which `jupyter labextension disable agent-magic` was run."""

    def __init__(self, root: Path, app: App, *, extension: bool = True) -> None:
        self.app = app
        self.root = root
        self.work = root / "work"
        self.work.mkdir(parents=True)
        for name, value in QUIET.items():
            path = root / "settings" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(value))
        if not extension:
            disabled = root / "config" / "labconfig" / "page_config.json"
            disabled.parent.mkdir(parents=True)
            disabled.write_text(json.dumps({"disabledExtensions": {"agent-magic": True}}))
        self.token = secrets.token_hex(16)
        self._log = root / "server.log"
        # Somebody else may take the port before the server does.
        for attempt in range(3):
            self._start()
            if self._comes_up():
                return
            self.stop()
            if attempt == 2 or "already in use" not in self.log():
                raise RuntimeError(f"The Jupyter server did not start. It said:\n{self.log()}")

    def _start(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(), stdout=log, stderr=subprocess.STDOUT, env=self._environment(), cwd=self.work
            )

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyterlab" if self.app == "lab" else "notebook"),
            *("--no-browser", "--allow-root", "--expose-app-in-browser"),
            *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={self.port}", "--ServerApp.port_retries=0"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.work}"),
        ]

    def _environment(self) -> dict[str, str]:
        own = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
            "HOME": "home",
            "AGENT_MAGIC_CONFIG": "agent-config",
            "AGENT_MAGIC_DATA": "agent-data",
        }
        # No key and no server of the person who runs the tests.
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
        folders = {name: str(self.root / folder) for name, folder in own.items()}
        return {**kept, **folders, "JUPYTER_PLATFORM_DIRS": "0", "JUPYTER_PREFER_ENV_PATH": "1"}

    def _comes_up(self) -> bool:
        deadline = time.monotonic() + STARTED_IN
        while self._process.poll() is None and time.monotonic() < deadline:
            if self._answers():
                return True
            time.sleep(0.1)
        return False

    def _answers(self) -> bool:
        try:
            self.request("GET", "api")
        except (urllib.error.URLError, http.client.HTTPException, ValueError, ConnectionError, TimeoutError):
            return False
        return True

    def request(self, method: str, path: str) -> Any:
        """What the server's API answers, as JSON."""
        request = urllib.request.Request(
            f"{self.url}/{path}", method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def log(self) -> str:
        """The last lines that the server and its kernels wrote."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-60:])

    def write(self, name: str, cells: Sequence[str]) -> None:
        """A notebook in the server's folder, with these code cells and no outputs."""
        notebook = nbformat.v4.new_notebook(
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            cells=[nbformat.v4.new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(cells)],
        )
        nbformat.write(notebook, self.work / name)

    def read(self, name: str) -> Any:
        """A notebook as it is saved."""
        return nbformat.read(self.work / name, as_version=4)

    def clear(self) -> None:
        """End all kernels, and forget what tests and cells told each other by files."""
        for session in self.request("GET", "api/sessions"):
            self.request("DELETE", f"api/sessions/{session['id']}")
        for kernel in self.request("GET", "api/kernels"):
            self.request("DELETE", f"api/kernels/{kernel['id']}")
        for file in self.work.iterdir():
            if file.is_file() and file.suffix != ".ipynb":
                file.unlink()

    def stop(self) -> None:
        """End the server and all that it started."""
        if self._process.poll() is not None:
            return
        started = psutil.Process(self._process.pid).children(recursive=True)
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for process in psutil.wait_procs(started, timeout=3)[1]:
            process.kill()
