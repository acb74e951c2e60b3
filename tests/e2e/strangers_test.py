#!/usr/bin/python3
"""Other users of the machine: they keep nothing from being recorded, nor make the recorder work, wait, say something or stay."""

import contextlib
import fcntl
import os
import pathlib
import re
import resource
import subprocess
import time
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, TIMEOUT, Case

OWN, OTHER = 64101, 64102
PYTHON = "/usr/bin/python3"  # which every user may execute
RLIMIT_LOCKS = 10
CONNECTIONS = 2000
CHILDREN = 20
RECORDED = ["inherits", "rdam-agent", "rdam-starter"]  # what runs while the first process waits
ROUNDS = 3
INHERITS = PROGRAMS / "inherits"
COUNTS = PROGRAMS / "counts"
PRELOADED = {"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work"}
IS_HELD = "another user holds the name of this run's rdam-starter"

# Connects to a name so often, and stays until its input ends; connections that were closed are made anew if "again" is asked for.
CALLER = """
import socket, sys
name, count, again = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "again"
def call():
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(5)
    with_name = one.connect_ex(chr(0) + name)
    return one
held = [call() for _ in range(count)]
print("held", flush=True)
if again:
    while True:
        call().close()
sys.stdin.read()
"""
# Listens under a name and accepts nothing; its queue is full.
HOLDER = """
import socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(chr(0) + sys.argv[1])
listening.listen(0)
held = []
if sys.argv[2] == "full":
    for _ in range(3):
        one = socket.socket(socket.AF_UNIX)
        one.setblocking(False)
        one.connect_ex(chr(0) + sys.argv[1])
        held.append(one)
print("held", flush=True)
sys.stdin.read()
"""


def mark_with(token: int) -> int:
    """libprobe/format/starter.h."""
    return 0x72D << 52 | token


def name_with(token: int) -> str:
    return f"rdam-{token}-{OWN}"


def processes_of(user: int) -> list[str]:
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (process / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if process.stat().st_uid == user and state not in "ZX":
                found.append((process / "comm").read_text().strip())
    return sorted(found)


@unittest.skipUnless(os.geteuid() == 0, "two users take root")
class TwoUsers(Case):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o777)
        if self.as_user(OWN, COUNTS, "1", "1").returncode != 3:
            self.skipTest("another user cannot read the build directory")
        self.await_none()

    def as_user(self, user: int, *command, **options) -> subprocess.CompletedProcess:
        return self.run_in_folder(*command, user=user, group=user, extra_groups=[], **options)

    def start(self, user: int, *command, env=None, **options) -> subprocess.Popen:
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, user=user, group=user, extra_groups=[],
                                   env={**os.environ, "RDAM_CACHE": "", **(env or {})}, **options)

        def stop():
            process.kill()
            process.communicate()

        self.addCleanup(stop)
        return process

    def start_other(self, script: str, *arguments) -> subprocess.Popen:
        def limit():
            return resource.setrlimit(resource.RLIMIT_NOFILE, (2 * CONNECTIONS, 2 * CONNECTIONS))
        other = self.start(OTHER, PYTHON, "-c", script, *arguments, preexec_fn=limit)
        self.assertEqual(other.stdout.readline(), b"held\n")
        return other

    def await_none(self):
        self.await_processes([])

    def await_processes(self, expected: list[str]):
        """An agent has its starter's name until it is one."""
        for _ in range(500):
            if processes_of(OWN) == expected:
                return
            time.sleep(0.02)
        self.assertEqual(processes_of(OWN), expected)

    def calls(self) -> list[int]:
        return sorted(self.counts(path.name)["work"] for path in self.folder.glob("trace*.bin"))


class Connections(TwoUsers):
    def starters(self) -> list[str]:
        return re.findall(rf"@(rdam-\d+-{OWN})\n", pathlib.Path("/proc/net/unix").read_text())

    def measured(self, disturb) -> float:
        """Seconds for a run whose first process waits meanwhile."""
        program = self.start(OWN, INHERITS, CHILDREN, "wait", env=PRELOADED)
        self.assertEqual(program.stdout.readline(), b"waiting\n")
        self.await_processes(RECORDED)
        disturb(self.starters())
        self.await_processes(RECORDED)
        begin = time.monotonic()
        _, said = program.communicate(b"go\n", timeout=TIMEOUT)
        took = time.monotonic() - begin
        self.assertEqual((program.returncode, said), (5, b""))
        # While the other one is still there.
        self.await_none()
        self.assertEqual(self.calls(), [1] + [100] * CHILDREN)
        self.forget()
        return took

    def test_thousands_are_held(self):
        plain, held = [], []
        for _ in range(ROUNDS):
            plain.append(self.measured(lambda names: None))
            held.append(self.measured(lambda names: self.start_other(CALLER, names[0], CONNECTIONS, "once")))
        print(f"with {CONNECTIONS} connections of another user a run took {min(held) / min(plain):.2f} × as long")

    def test_calls_without_an_end(self):
        self.measured(lambda names: self.start_other(CALLER, names[0], 1, "again"))

    def test_names_are_not_to_be_guessed(self):
        names = set()
        for _ in range(2):
            self.measured(lambda found: names.update(found))
        self.assertEqual(len(names), 2)


class Names(TwoUsers):
    def check(self, how: str):
        token = os.getpid() + 1
        def mark():
            return resource.setrlimit(RLIMIT_LOCKS, (mark_with(token), resource.RLIM_INFINITY))
        times = {False: [], True: []}
        for held in (*[False] * ROUNDS, *[True] * ROUNDS):
            if held and not times[held]:
                self.start_other(HOLDER, name_with(token), how)
            begin = time.monotonic()
            program = self.start(OWN, INHERITS, 3, "none", env=PRELOADED, preexec_fn=mark)
            _, said = program.communicate(timeout=TIMEOUT)
            times[held].append(time.monotonic() - begin)
            self.assertEqual(program.returncode, 5, said)
            self.assertEqual(said.decode().count(IS_HELD), 1 if held else 0, said)
            self.await_none()
            self.assertEqual(self.calls(), [1, 100, 100, 100])
            self.forget()
        print(f"a name that another user holds ({how}) took {(min(times[True]) - min(times[False])) * 1e3:.0f} ms of a run")

    def test_held(self):
        self.check("idle")

    def test_held_and_full(self):
        self.check("full")

    def test_what_is_executed_finds_the_starter(self):
        # Two programs one after the other, and not one more starter.
        self.assertEqual(self.as_user(OWN, INHERITS, 1, "none", COUNTS, env=PRELOADED).returncode, 5)
        self.await_none()
        self.assertEqual(self.calls(), [1, 10, 100])


class Locks(TwoUsers):
    WORDS = b"words of somebody else"

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o1777)

    def plant(self, name: str, lock=True):
        """As the recorder writes it: the run, a failure, that there are events and a plan."""
        content = b"another run".ljust(256, b"\0") + self.WORDS.ljust(512, b"\0") + b"1".ljust(8, b"\0") * 2 + self.WORDS.ljust(3072, b"\0")
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o666)
        os.chown(path, OTHER, OTHER)
        if lock:
            file = path.open("rb")
            self.addCleanup(file.close)
            fcntl.flock(file, fcntl.LOCK_EX)

    def check(self):
        begin = time.monotonic()
        done = self.as_user(OWN, RDAM, "record", "-f", "work", "--", COUNTS, "1", "10")
        took = time.monotonic() - begin
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertNotIn(self.WORDS, done.stderr)
        self.assertEqual(self.calls(), [10], done.stderr.decode())
        print(f"a run beside another user's lock took {took * 1e3:.0f} ms")
        done = self.as_user(OWN, COUNTS, "1", "20", env=PRELOADED)
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertNotIn(self.WORDS, done.stderr)
        self.assertEqual(self.calls(), [20], done.stderr.decode())

    def test_of_another_user(self):
        self.plant(".trace.bin.lock")
        self.check()

    def test_left_behind_by_another_user(self):
        self.plant(".trace.bin.lock", lock=False)
        self.check()

    def test_for_each_name(self):
        self.plant(".trace.bin.lock")
        self.plant(f".trace.bin.{OWN}.lock")
        self.check()

    def test_a_link(self):
        (self.folder / "victim").write_bytes(b"")
        os.chown(self.folder / "victim", OWN, OWN)
        (self.folder / ".trace.bin.lock").symlink_to("victim")
        os.lchown(self.folder / ".trace.bin.lock", OTHER, OTHER)
        self.check()
        self.assertEqual((self.folder / "victim").read_bytes(), b"")

    def test_nothing_recorded_is_not_a_failure(self):
        self.plant(".trace.bin.lock")
        done = self.as_user(OWN, RDAM, "record", "-f", "work", "--", COUNTS, "1", "0")
        self.assertEqual((done.returncode, self.WORDS in done.stderr), (3, False), done.stderr.decode())

    def test_of_root_that_starts_another_user(self):
        for mode in (0o777, 0o1777):
            self.folder.chmod(mode)
            done = self.rdam("record", "-f", "work", "--", "setpriv", f"--reuid={OWN}", f"--regid={OWN}", "--clear-groups", COUNTS, "1", "10")
            self.assertEqual(done.returncode, 3, done.stderr.decode())
            self.assertNotRegex(done.stderr.decode(), "Permission denied|no program of the run|another user")
            self.assertRegex(done.stderr.decode(), r"trace\.bin: counts: ")
            self.assertEqual(self.calls(), [10])
            self.assertEqual([path.name for path in self.folder.glob(".*")], [])
            self.forget()

    def test_of_root_that_starts_another_user_without_a_call(self):
        done = self.rdam("record", "-f", "work", "--", "setpriv", f"--reuid={OWN}", f"--regid={OWN}", "--clear-groups", COUNTS, "1", "0")
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertIn("no wrapped function was called", done.stderr.decode())


@unittest.skipUnless(os.geteuid() == 0, "only root has a user's environment without being that user")
class Caches(TwoUsers):
    def test_root_in_a_users_home(self):
        home = self.folder / "home"
        home.mkdir()
        os.chown(home, OWN, OWN)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("RDAM_", "XDG_"))}
        done = subprocess.run([RDAM, "record", "-f", "work", "--", COUNTS, "1", "10"], cwd=self.folder, capture_output=True,
                              env={**environment, "HOME": str(home)}, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertEqual(list(home.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
