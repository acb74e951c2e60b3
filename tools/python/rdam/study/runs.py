"""Runs settings in rounds of drawn order, each program under rdam-study-run, and keeps every run in the journal."""

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

from rdam.study import native, pin, placements, readback
from rdam.study.journal import Journal
from rdam.study.settings import Setting, bytewise, environment_of
from rdam.study.topology import Topology
from rdam.trace import Error, program, run

RUNNER = "rdam-study-run"
REGIONS = "librdam-regions.so"  # tools/study-native/regions.c


@dataclasses.dataclass(frozen=True)
class Planned:
    """One run. `round` counts from 0, warm-ups on their own."""

    setting: int
    round: int
    warm_up: bool
    recorded: bool = False  # by rdam

    def seed(self, seed: int) -> str:
        return f"{seed}/{self.warm_up}/{self.round}/{self.setting}/{self.recorded}"


def schedule(settings: int, rounds: int, warm_ups: int, seed: int, record_every: int | None) -> Iterator[Planned]:
    """Every round has each setting once, in an order of its own: neither drift nor a burst favours one. Every `record_every`-th round has each
    setting once more, recorded by rdam."""
    for warm_up, count in ((True, warm_ups), (False, rounds)):
        for number in range(count):
            ways = (False, True) if record_every and not warm_up and number % record_every == 0 else (False,)
            order = [Planned(setting, number, warm_up, recorded) for setting in range(settings) for recorded in ways]
            random.Random(f"{seed}/{warm_up}/{number}").shuffle(order)
            yield from order


@dataclasses.dataclass(frozen=True)
class Recording:
    """How rdam records runs."""

    functions: str  # a list's file, or names

    def command(self, trace: pathlib.Path, command: Sequence[str]) -> list[str]:
        return [program(), "record", "-f", self.functions, "-o", str(trace), "--", *command]

    @staticmethod
    def scores(trace: pathlib.Path) -> tuple[float, list[dict]]:
        """How long the program itself ran, in ns, and what each function lost in all threads. Raises Error if the trace cannot be analyzed."""
        report = json.loads(run("analyze", "--json", "--no-rules", "--top", "0", trace))
        # What we preload has functions of the names of others, which it calls with arguments of its own: those would be there twice.
        ours = [row["name"] for row in report["functions"] if row["module"].startswith("librdam-")]
        return report["trace"]["duration_ns"], [
            {"name": row["name"], "module": row["module"], "lost_ns": row["lost_ns"], "rdam": row["rdam"], "calls": row["occurrences"]}
            for row in report["functions"] if row["name"] not in ours or row["module"].startswith("librdam-")]


@dataclasses.dataclass(frozen=True)
class Metric:
    """A value that the program prints: once, or many times in a run."""

    name: str
    pattern: re.Pattern[str] | None  # its first group
    path: tuple[str, ...]  # else, where it is in the JSON that the program prints; `*`: every element

    @classmethod
    def parse(cls, text: str) -> "Metric":
        """NAME=REGEX, with a group, or NAME=.json.path. Raises Error."""
        name, equals, what = text.partition("=")
        if not name or not what:
            raise Error(f"--metric {text}: write NAME=REGEX, or NAME=.path.in.json")
        if what.startswith("."):
            return cls(name, None, tuple(what[1:].split(".")))
        try:
            pattern = re.compile(what, re.MULTILINE)
        except re.error as error:
            raise Error(f"--metric {text}: is no regular expression: {error}") from None
        if pattern.groups != 1:
            raise Error(f"--metric {text}: needs one group in parentheses, which is the value")
        return cls(name, pattern, ())

    def values(self, output: str) -> list[float]:
        """Raises Error where there is none."""
        try:
            found = self.pattern.findall(output) if self.pattern else self._in_json(json.loads(output))
            values = [float(value) for value in found]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            values = []
        if not values or not all(map(math.isfinite, values)):
            raise Error(f"--metric {self.name}: there is no such number in what the program printed; run it once and look at its output")
        return values

    def _in_json(self, value) -> list:
        values = [value]
        for key in self.path:
            values = [inner for each in values for inner in (
                (each.values() if isinstance(each, dict) else each) if key == "*" else [each[int(key)] if isinstance(each, list) else each[key]])]
        return values


def children() -> list[int]:
    """Of this process."""
    return [int(stat.parent.name) for stat in pathlib.Path("/proc").glob("[0-9]*/stat") if parent_in(stat) == os.getpid()]


def adopt() -> bool:
    """What a run leaves behind if its rdam-study-run is killed becomes a child of this process (PR_SET_CHILD_SUBREAPER). False: this process
    has children already, which a shell began before it became this process by exec; nobody could tell what they leave behind from that."""
    import ctypes
    return not children() and ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0


def end_adopted() -> None:
    """Ends all children of this process."""
    while found := children():
        for child in found:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def parent_in(stat: pathlib.Path) -> int | None:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


class Place:
    """Where each setting's threads and co-runners go."""

    def __init__(self, settings: Sequence[Setting]) -> None:
        """Raises Error for placements that cannot be."""
        self._settings = settings
        self._topology = Topology.load() if any(self._needs(setting) for setting in settings) else None
        for setting in settings:
            self.of(setting, "check")

    @staticmethod
    def _needs(setting: Setting) -> bool:
        return setting.pinning != "none" or setting.spared_cores > 0 or not setting.siblings or setting.co_runners.each > 0

    def of(self, setting: Setting, seed: str) -> placements.Placement | None:
        """None: the program may use what the study may."""
        if not self._needs(setting) or self._topology is None:
            return None
        options = placements.Options(setting.siblings, setting.spared_cores, setting.pinning_file)
        return placements.place(setting.pinning, self._threads(setting), self._topology, options, random.Random(seed))

    @staticmethod
    def _threads(setting: Setting) -> int:
        return setting.threads or len(os.sched_getaffinity(0))

    def co_runners(self, setting: Setting, placement: placements.Placement | None) -> list[dict]:
        if setting.co_runners.each == 0 or placement is None:
            return []
        masks = placements.place_co_runners(placement, setting.co_runners.each, setting.co_runners.bound)
        return [{**setting.co_runners.request(), "processors": sorted(mask)} for mask in masks]

    def another_machines(self) -> list[str] | None:
        """Where the threads of each setting would run, if hwloc has been told of another machine. Nothing can be run there."""
        if self._topology is None or self._topology.is_this_machine:
            return None
        found = [self.of(setting, "shown") for setting in self._settings]
        return [",".join(map(str, each.processors)) or f"free on {placements.ranges(each.mask)}" if each else "free" for each in found]

    def equal(self) -> list[tuple[int, int]]:
        """Pairs of settings, the later first, that differ in nothing but where threads and memory go, and coincide in that on this machine."""
        found: list[tuple[int, int]] = []
        for at, later in enumerate(self._settings):
            for number, earlier in enumerate(self._settings[:at]):
                is_run = all(number != known for known, _ in found)
                if is_run and but_for_placement(later) == but_for_placement(earlier) and self._coincide(earlier, later):
                    found.append((at, number))
                    break
        return found

    def _coincide(self, one: Setting, other: Setting) -> bool:
        if self._topology is None:
            return True
        free = placements.place("none", 1, self._topology)
        masks = [self.of(setting, "") or dataclasses.replace(free, threads=self._threads(setting)) for setting in (one, other)]
        return len(placements.coinciding(masks, self._topology)) == 1


def but_for_placement(setting: Setting) -> Setting:
    """With what its memory policy comes to on this machine: all that one node allows is the same, and first touch is local."""
    levels = tuple(level for level in setting.levels if level[0] not in ("pin", "smt", "spare", "memory"))
    online = online_nodes()
    policy, nodes = setting.memory, setting.nodes or tuple(online)
    if policy is not None and (policy in ("local", "first-touch") or list(nodes) == online[:1] == online):
        policy, nodes = "local", ()
    return dataclasses.replace(setting, levels=levels, pinning="", pinning_file=None, siblings=True, spared_cores=0, memory=policy, nodes=nodes,
                               label="")


class Check:
    """Whether a run's output is right: the same as that of the command's first run, or by a checker that reads it on stdin."""

    def __init__(self, how: str) -> None:
        self._how = how
        self._first: dict[tuple[str, ...], str] = {}

    def differs(self, command: tuple[str, ...], output: pathlib.Path, digest: str) -> bool:
        if self._how == "none":
            return False
        if self._how == "same":
            return self._first.setdefault(command, digest) != digest
        with output.open("rb") as text:
            return subprocess.run(self._how, shell=True, stdin=text, stdout=subprocess.DEVNULL, check=False).returncode != 0

    def remember(self, command: tuple[str, ...], digest: str) -> None:
        self._first.setdefault(command, digest)


class Runs:
    """Makes the runs of a schedule that are not in the journal yet."""

    def __init__(self, settings: Sequence[Setting], journal: Journal, place: Place, metrics: Sequence[Metric], check: Check, seed: int,
                 time_limit: float | None, recording: Recording | None, regions: bool) -> None:
        self._settings, self._journal, self._place, self._metrics, self._check = settings, journal, place, metrics, check
        self._seed, self._time_limit, self._recording, self._regions, self._runner = seed, time_limit, recording, regions, native.find(RUNNER)

    def make(self, planned: Sequence[Planned], tell: Callable[[int, Planned], None]) -> None:
        """Raises Error when a run fails; those before it are in the journal."""
        adopts = adopt()
        with tempfile.TemporaryDirectory(prefix="rdam-study-") as folder:
            for number, each in enumerate(planned):
                tell(number, each)
                try:
                    self._journal.append(self._run(each, pathlib.Path(folder)))
                finally:
                    if adopts:
                        end_adopted()

    def _run(self, planned: Planned, folder: pathlib.Path) -> dict:
        setting = self._settings[planned.setting]
        placement = self._place.of(setting, planned.seed(self._seed))
        output, errors, trace = folder / "out", folder / "errors", folder / "trace.bin"
        environment = environment_of(setting)
        command = list(setting.command)
        if planned.recorded:
            command = self._recording.command(trace, command)
        request: dict[str, object] = {
            "study": os.getpid(), "command": list(map(bytewise, command)), "stdout": bytewise(output), "stderr": bytewise(errors),
            "co_runners": self._place.co_runners(setting, placement)}
        if placement is not None:
            request["processors"] = sorted(placement.mask)
            if placement.processors:  # where threads are free, what the program does with them is its own
                environment.update(placement.environment)
            environment.update(pin.environment(placement, preloads=environment.get("LD_PRELOAD", "")))
        if self._regions:
            counts = folder / "regions"
            request["regions"] = bytewise(counts)
            environment.update({"LD_PRELOAD": native.preloaded(REGIONS, environment.get("LD_PRELOAD", "")), "RDAM_REGIONS_FILE": str(counts)})
        if setting.randomized is not None:
            request["randomize"] = setting.randomized
        if setting.memory is not None:
            request["memory"] = {"policy": setting.memory, "nodes": list(setting.nodes) or online_nodes()}
        if self._time_limit is not None:
            request["time_limit_s"] = self._time_limit
        request["environment"] = [bytewise(f"{name}={value}") for name, value in environment.items()]
        at = time.time()
        answer, pinned = self._ask(request, placement if planned.warm_up else None)
        self._fail_if(answer, setting, errors)
        line = {"setting": planned.setting, "round": planned.round, "warm_up": planned.warm_up, "recorded": planned.recorded, "at": at}
        own = answer["all_cpu_ns"] / 1e9  # of the program, of what it left behind and of the co-runners
        line["others_s"] = max(answer["busy_s"] - own, 0.0)
        if placement is not None and placement.processors:
            line["processors"] = list(placement.processors)
        if pinned is not None:
            line["pinned"] = pinned
        with output.open("rb") as text:
            line["output"] = hashlib.file_digest(text, "sha256").hexdigest()
        line["output_differs"] = self._check.differs(setting.command, output, line["output"])
        if planned.recorded:
            # There is no trace if no function was called.
            line["program_ns"], line["functions"] = self._recording.scores(trace) if trace.exists() else (answer["wall_ns"], [])
            trace.unlink(missing_ok=True)
        if self._metrics:
            text = output.read_text(errors="replace")
            line["metrics"] = {metric.name: metric.values(text) for metric in self._metrics}
        return {**line, **{name: value for name, value in answer.items() if name not in ("too_long", "interrupted", "exit_code", "signal")}}

    def _ask(self, request: dict, watched: placements.Placement | None) -> tuple[dict, str | None]:
        """The answer, and how the program's threads were seen to be pinned: looking disturbs, so only warm-ups are looked at."""
        seen = None
        with subprocess.Popen([self._runner], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                with contextlib.suppress(BrokenPipeError):  # it has ended, and gives no answer
                    process.stdin.write(json.dumps(request))
                    process.stdin.close()
                answer = json.loads(process.stdout.readline() or "null")
                if answer is not None and "pid" in answer:
                    if watched is not None:
                        seen = readback.ReadBack(answer["pid"], watched)
                        while not select.select([process.stdout], [], [], 0.02)[0]:
                            seen.poll()
                    answer = json.loads(process.stdout.readline() or "null")
            except BaseException:
                process.terminate()  # which ends all that it has started
                process.wait()
                raise
        if answer is None:
            raise Error(f"{RUNNER} ended without an answer ({ending(process.returncode)}); go on by --resume")
        return answer, seen.sentence() if seen is not None and seen.threads else None

    def _fail_if(self, answer: dict, setting: Setting, errors: pathlib.Path) -> None:
        if "error" in answer:
            raise Error(answer["error"])
        if answer["interrupted"]:
            raise KeyboardInterrupt
        what = f"a run with '{setting.label}'" if setting.levels else "a run"
        if answer["too_long"]:
            raise Error(f"{what} took longer than {self._time_limit:g} s; give it more by --time-limit, then go on by --resume")
        if answer["exit_code"] != 0:
            why = f"exit code {answer['exit_code']}" if answer["signal"] is None else f"signal {answer['signal']}"
            raise Error(f"{what} ended with {why}{': ' + last if (last := last_line(errors)) else ''}; mend that, then go on by --resume")


def last_line(path: pathlib.Path, most: int = 300) -> str:
    """What a program printed last, without what would change a terminal."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4096, 0))
        lines = file.read().decode(errors="replace").strip().splitlines() or [""]
    return "".join(letter if letter.isprintable() else "?" for letter in lines[-1].removeprefix("rdam: ")[:most])


def ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def online_nodes() -> list[int]:
    """Of memory."""
    return sorted(int(folder.name.removeprefix("node")) for folder in pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")) or [0]


class Progress:
    """A line on a terminal, one a minute elsewhere, from two seconds on: how far, and how much longer."""

    def __init__(self, settings: Sequence[Setting], total: int, complaints: Sequence[str]) -> None:
        self._settings, self._total, self._complaints = settings, total, complaints
        self._begin = self._told = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, number: int, planned: Planned) -> None:
        now = time.monotonic()
        if now - self._begin < 2:
            return
        for complaint in self._complaints:
            print(f"rdam: {complaint}", file=sys.stderr)
        self._complaints = ()
        if not self._is_terminal and now - self._told < 60:
            return
        self._told = now
        left = (now - self._begin) / number * (self._total - number) if number else None
        text = f"run {number + 1} of {self._total}" + (f", {duration(left)} left" if left is not None else "")
        text += f": {self._settings[planned.setting].label}{' (warm-up)' if planned.warm_up else ' (recorded)' if planned.recorded else ''}"
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{text[:width]:{width}}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_terminal:
            print(f"\r{'':{shutil.get_terminal_size().columns - 1}}\r", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
