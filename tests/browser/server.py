"""One JupyterLab server of its own on 127.0.0.1: own port, own folders, own settings, gone when the tests are over."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
START_SECONDS = 90

#: Nothing may cover the page or ask the world for news.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": False,
    },
}


@dataclass(frozen=True)
class Server:
    """A running server: its address, its token, the folder that it shows and the file that it writes its log to."""

    url: str
    token: str
    folder: Path
    log: Path

    def ask(self, path: str, method: str = "GET") -> object:
        """The JSON answer of the server's own interface, for example `ask("api/kernels")`."""
        request = urllib.request.Request(
            f"{self.url}/{path}", method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            body = response.read()
        return json.loads(body) if body else None

    def kernels(self) -> list[dict[str, object]]:
        """The kernels that run now."""
        answer = self.ask("api/kernels")
        assert isinstance(answer, list)
        return answer


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(home: Path) -> dict[str, str]:
    """What the server and its kernels see: folders of their own, and the packages and the extension of this tree."""
    extensions = home / "share" / "labextensions"
    extensions.mkdir(parents=True)
    (extensions / "tensorlab-extension").symlink_to(REPOSITORY / "extension" / "labextension")
    config = home / "config"
    overrides = config / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(SETTINGS))
    tree = [str(REPOSITORY), str(REPOSITORY / "widgets")]
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([*tree, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PATH": str(home / "share"),
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }


@contextmanager
def jupyterlab(home: Path) -> Iterator[Server]:
    """A JupyterLab that lives as long as the block, with everything that it writes under `home`.

    Raises RuntimeError with the end of the server's log if it does not answer in time.
    """
    folder = home / "notebooks"
    folder.mkdir(parents=True)
    log = home / "server.log"
    port, token = free_port(), secrets.token_hex(16)
    server = Server(f"http://127.0.0.1:{port}", token, folder, log)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment(home), stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_it_answers(server, process)
        yield server
    finally:
        stop(process)


def wait_until_it_answers(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Returns when the server answers; raises RuntimeError when it died or took too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server.ask("api/status")
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + server.log.read_text()[-4000:])


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the server, which ends its kernels: by the polite signals first."""
    for wanted in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(wanted)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                continue
