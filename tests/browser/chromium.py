"""Where the Chromium of the browser tests comes from: one that is there, or (run as a script) one that can be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DEBIAN = ("chromium", "fonts-dejavu-core", "libatomic1")


def find() -> str | None:
    """The path of a Chromium: the system's, one on PATH, or Playwright's own; None where there is none."""
    if Path("/usr/bin/chromium").exists():
        return "/usr/bin/chromium"
    for name in NAMES:
        if path := shutil.which(name):
            return path
    own = playwrights_own()
    return str(own) if own is not None and own.exists() else None


def playwrights_own() -> Path | None:
    """Where Playwright keeps the Chromium that it downloads, or None if Playwright cannot start."""
    code = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    try:
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(answer.stdout.strip())


def attempts() -> list[list[str]]:
    """The commands that could bring a Chromium here, in the order to try them."""
    commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        install = "apt-get -q update && apt-get -q install -y --no-install-recommends " + " ".join(DEBIAN)
        commands.insert(0, ["sh", "-c", install])
    return commands


def main() -> None:
    """Says which Chromium the tests will use, after trying to get one if there is none. Never fails: the tests do."""
    path = find()
    for command in [] if path else attempts():
        print("$", *command, flush=True)
        try:
            subprocess.run(command, timeout=600, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        except (OSError, subprocess.SubprocessError) as error:
            print(error)
        if path := find():
            break
    print(path or "No Chromium could be had; install one (Debian: apt install chromium), then run `make browser`.")


if __name__ == "__main__":
    main()
