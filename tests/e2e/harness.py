"""What the end-to-end tests have in common: running rdam on real programs in a folder of their own."""

import atexit
import contextlib
import errno
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from seccomp import forbid

RDAM = os.environ["RDAM"]
LIBRDAM = os.environ["LIBRDAM"]
PROGRAMS = pathlib.Path(os.environ["PROGRAMS"])
TIMEOUT = 240

# Tests count calls of functions that take a few nanoseconds. Those that are about the budget give another one.
NO_BUDGET = {"RDAM_MAX_OVERHEAD": "100000%"}
os.environ.update(NO_BUDGET)

# Plans are kept from test to test, as they are from run to run, but never where a person's own are.
CACHE = tempfile.mkdtemp(prefix="rdam-e2e-cache-")
os.environ["RDAM_CACHE"] = CACHE
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)


def keeps_windows(process: pathlib.Path) -> bool:
    """The process that opens and closes an agent's windows, which has the agent's command line."""
    return (process / "comm").read_text() == "rdam-windows\n"


def agents_of(pid: int) -> list[int]:
    found = []
    for process in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"/rdam-agent") and words[2] == str(pid).encode() and not keeps_windows(process):
                found.append(int(process.name))
    return found


class Others:
    """What other programs and the host have taken of all processors since this was made."""

    MOST = 0.4  # two endless loops take more, of two processors; agents, which are nobody's children, count as others

    def __init__(self):
        self._begin, self._before = time.monotonic(), self._taken()

    @staticmethod
    def _taken() -> float:
        """Seconds of processors, less those of this process and of its children."""
        user, nice, system, _, _, interrupts, soft, stolen = map(int, pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9])
        own = sum(each.ru_utime + each.ru_stime for each in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
        return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK") - own

    def share(self) -> float:
        return (self._taken() - self._before) / (time.monotonic() - self._begin) / os.cpu_count()


class Case(unittest.TestCase):
    """A test in an empty folder, which is the current one of everything it runs."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rdam-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_in_folder(self, *command, env=None, **options) -> subprocess.CompletedProcess:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([str(word) for word in command], cwd=self.folder,
                              env={**variables, **NO_BUDGET, "RDAM_CACHE": CACHE, **(env or {})},
                              capture_output=True, timeout=TIMEOUT, check=False, **options)

    def rdam(self, *arguments, **options) -> subprocess.CompletedProcess:
        return self.run_in_folder(RDAM, *arguments, **options)

    def succeeded(self, done: subprocess.CompletedProcess, status=0) -> subprocess.CompletedProcess:
        """It ended with the status that the program has when all is well."""
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def interrupted(self, *command, writing: str, way=signal.SIGINT) -> int:
        """The status of rdam, to which the signal was sent as soon as files of this pattern were there."""
        with subprocess.Popen([RDAM, *command], cwd=self.folder, stderr=subprocess.PIPE) as running:
            self.until(lambda: running.poll() is not None or list(self.folder.glob(writing)), "nothing was written")
            running.send_signal(way)
            said = running.communicate(timeout=TIMEOUT)[1].decode()
        if running.returncode == -way:
            self.assertRegex(said, r"rdam: interrupted\n$")
        return running.returncode

    def unchanged(self, functions: str, *command, status=0, options=(), **more) -> subprocess.CompletedProcess:
        """Records a command, which ends with this status and prints what it prints without the recorder."""
        plain = self.run_in_folder(*command, **more)
        self.assertEqual(plain.returncode, status, plain.stderr.decode())
        done = self.rdam("record", *options, "-f", functions, "--", *command, **more)
        self.assertEqual((done.returncode, done.stdout), (status, plain.stdout), done.stderr.decode())
        return done

    def preload(self, functions: str, *command, **variables) -> subprocess.CompletedProcess:
        return self.run_in_folder(*command, env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions, **variables})

    def forbidding(self, names, *command, error=errno.EPERM, env=None) -> subprocess.CompletedProcess:
        """Where system calls of these names fail."""
        try:
            return self.run_in_folder(*command, env=env, preexec_fn=forbid(names, error))
        except subprocess.SubprocessError:
            self.skipTest("no seccomp filter can be set here")

    def analyze(self, trace="trace.bin", *options) -> dict:
        return json.loads(self.succeeded(self.rdam("analyze", "--json", "--top", "0", *options, trace)).stdout)

    def counts(self, trace="trace.bin", *options) -> dict[str, int]:
        return {f["name"]: f["occurrences"] for f in self.analyze(trace, *options)["functions"]}

    def traces(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("trace*.bin"))

    def forget(self):
        """Removes the traces that were recorded so far."""
        for name in self.traces():
            (self.folder / name).unlink()

    def agents_here(self) -> list[int]:
        """The agents of programs that were started in this folder."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                title = (process / "cmdline").read_bytes().split(b"\0")[0]
                if title.endswith(b"/rdam-agent") and os.path.realpath(process / "cwd") == os.path.realpath(self.folder):
                    found.append(int(process.name))
        return found

    def await_agents(self):
        """Of processes that were killed the trace is finished a moment later."""
        self.until(lambda: not self.agents_here(), "agents have stayed")

    def until(self, what, message: str):
        """What `what` returns as soon as that is something. Fails with the message if it takes too long."""
        end = time.monotonic() + TIMEOUT
        while not (found := what()):
            self.assertLess(time.monotonic(), end, message)
            time.sleep(0.002)
        return found

    def skipTest(self, reason):
        print(f"skipped: {reason}", flush=True)  # unittest keeps it to itself
        super().skipTest(reason)

    def need(self, *commands):
        """Skips, with the reason, where a program that the test is about is not installed."""
        for command in commands:
            if shutil.which(command) is None:
                self.skipTest(f"{command} is not installed")

    def skip_if_busy(self, others: Others):
        """For what is only so where nobody else wants the processors."""
        if (share := others.share()) > Others.MOST:
            self.skipTest(f"the machine is busy: others took {share:.0%} of its processors meanwhile")

    def assert_one_line(self, done, status: int, *words: str):
        """`done` failed as the contract says: this status, nothing on stdout, one line on stderr with these words."""
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, text)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("rdam: "), text)
        for word in words:
            self.assertIn(word, text)
