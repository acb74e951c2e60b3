"""The programs of a build directory, and how they are run: as a user would, and ended with us."""

import hashlib
import os
import pathlib
import signal
import subprocess

from . import Trouble

TIMEOUT = 300


class Programs:
    NAMES = {"rdam": "tools/rdam", "rdam-agent": "tools/agent", "librdam.so": "libprobe", "rdam-microbench": "microbench/interference"}

    def __init__(self, build: pathlib.Path):
        self._paths = {name: build / place / name for name, place in self.NAMES.items()}
        self.rdam, self.microbench = self._paths["rdam"], self._paths["rdam-microbench"]
        for path in self._paths.values():
            if not path.exists():
                raise Trouble(f"{path} is not there: tools/setup, then 'meson setup {build}' and 'ninja -C {build}' build it; "
                              "--build names another build directory")

    def identity(self) -> str:
        """Changes with the programs: what another build measured is not mixed with what this one measures."""
        summed = hashlib.sha256()
        for path in self._paths.values():
            summed.update(path.read_bytes())
        return summed.hexdigest()[:16]

    def version(self) -> str:
        return run([self.rdam, "--version"], pathlib.Path.cwd()).strip()


def start(command: list, folder: pathlib.Path, **options) -> subprocess.Popen:
    """In a session of its own, so that stop() reaches what it has started."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": variables} | options
    return subprocess.Popen([str(word) for word in command], cwd=folder, text=True, start_new_session=True, **options)


def stop(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finish(process: subprocess.Popen) -> str:
    """Its standard output. However this is left, the process has ended."""
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Trouble(f"{_spoken(process)}: not done after {TIMEOUT} s; try fewer --iterations") from None
    finally:
        stop(process)
    if process.returncode != 0:
        said = " ".join(err.split()) or "it said nothing"
        raise Trouble(f"{_spoken(process)}: ended with status {process.returncode}: {said}")
    return out


def run(command: list, folder: pathlib.Path) -> str:
    return finish(start(command, folder))


def _spoken(process: subprocess.Popen) -> str:
    words = [str(word) for word in process.args]
    return " ".join([pathlib.Path(words[0]).name, *words[1:]])
