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
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import IO

from rdam.study import memory, native, placements, readback, scratch
from rdam.study.journal import DUET, Journal
from rdam.study.settings import Setting, bytewise, environment_of, program_of
from rdam.study.topology import Topology
from rdam.study.watch import Watch
from rdam.trace import Error, program, run

RUNNER = "rdam-study-run"
REGIONS = "librdam-regions.so"  # tools/study-native/regions.c
COUNTED = b"regions1"  # its file begins with this; three numbers are behind it


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


def duets(planned: Iterable[Planned], settings: Sequence[Setting]) -> list[tuple[Planned, ...]]:
    """The runs of a schedule that are made at once: in each round both plain ones of a program, and both recorded ones. The first gets the first
    half of the processors: which that is was drawn with the round's order."""
    rounds: dict[tuple[bool, int, bool, str | None], list[Planned]] = {}
    for each in planned:
        rounds.setdefault((each.warm_up, each.round, each.recorded, program_of(settings[each.setting].levels)), []).append(each)
    return [tuple(both) for both in rounds.values()]


@dataclasses.dataclass(frozen=True)
class Duet:
    """What one of two runs at once needs."""

    half: list[int]  # processors
    go: int  # a pipe: both begin when its other end is closed


def scores(trace: pathlib.Path) -> tuple[float, list[dict]]:
    """How long the program itself ran, in ns, and what each function lost, in all threads and in each: these are counted from 0, in the order
    in which they were started. Raises Error if the trace cannot be analyzed."""
    report = json.loads(run("analyze", "--json", "--no-rules", "--top", "0", trace))
    order = {thread["tid"]: number for number, thread in enumerate(report["threads"])}
    # What we preload has functions of the names of others, which it calls with arguments of its own: those would be there twice.
    ours = [row["name"] for row in report["functions"] if row["module"].startswith("librdam-")]
    return report["trace"]["duration_ns"], [
        {"name": row["name"], "module": row["module"], "lost_ns": row["lost_ns"], "rdam": row["rdam"], "calls": row["occurrences"],
         "threads": {str(order[each["tid"]]): each["lost_ns"] for each in row["threads"] if each["tid"] in order and each["lost_ns"]}}
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
            raise Error(f"--metric {self.name}: the program printed no such number. The run is kept without it: look at "
                        "what the program prints, then continue with --resume, or begin another study")
        return values

    def _in_json(self, value) -> list:
        values = [value]
        for key in self.path:
            values = [inner for each in values for inner in (
                (each.values() if isinstance(each, dict) else each) if key == "*" else [each[int(key)] if isinstance(each, list) else each[key]])]
        return values


def children() -> list[int]:
    """Of this process."""
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    return [int(name) for name in processes if parent_in(pathlib.Path("/proc", name, "stat")) == os.getpid()]


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
    """Where each setting's threads and co-runners go: on the machine, or for a duet on each of its halves."""

    def __init__(self, settings: Sequence[Setting], duet: bool = False) -> None:
        """Raises Error for placements that cannot be."""
        self._settings = settings
        self._topology = Topology.load() if duet or any(self._needs(setting) for setting in settings) else None
        self._halves = placements.halves(self._topology) if duet else ()
        for setting in settings:
            if duet and setting.pinning == "file":
                raise Error(f"--pin file:{setting.pinning_file}: names processors, but --duet draws a half of them in each round; "
                            "use compact or scatter")
            for half in range(len(self._halves) or 1):
                self.of(setting, "check", half)

    def halves(self) -> list[list[int]]:
        """Processors; none but for a duet."""
        return [sorted(each.number for each in half.processors) for half in self._halves]

    @staticmethod
    def _needs(setting: Setting) -> bool:
        return setting.pinning != "none" or setting.spared_cores > 0 or not setting.siblings or setting.co_runners.each > 0

    def of(self, setting: Setting, seed: str, half: int = 0) -> placements.Placement | None:
        """None: the program may use what the study may, or its half of that."""
        topology = self._halves[half] if self._halves else self._topology
        if not self._needs(setting) or topology is None:
            return None
        options = placements.Options(setting.siblings, setting.spared_cores, setting.pinning_file)
        return placements.place(setting.pinning, self._threads(setting), topology, options, random.Random(seed))

    def _threads(self, setting: Setting) -> int:
        return setting.threads or (len(self._halves[0].processors) if self._halves else len(os.sched_getaffinity(0)))

    def check(self, watch: Watch) -> None:
        """Raises Error if what is to be watched cannot be with one of the settings."""
        for setting in self._settings:
            watch.request(setting, self.of(setting, "check"))

    def co_runners(self, setting: Setting, placement: placements.Placement | None) -> list[dict]:
        if setting.co_runners.each == 0 or placement is None:
            return []
        masks = placements.place_co_runners(placement, setting.co_runners.each, setting.co_runners.bound)
        return [{**setting.co_runners.request(), "processors": sorted(mask)} for mask in masks]

    def another_machines(self) -> list[str] | None:
        """Where the threads of each setting would run, if hwloc has been told of another machine. Nothing can be run there."""
        if self._topology is None or self._topology.is_this_machine:
            return None
        halves = self.halves() or [[]]
        return [" or ".join(self._shown(self.of(setting, "shown", number), half) for number, half in enumerate(halves))
                for setting in self._settings]

    @staticmethod
    def _shown(placement: placements.Placement | None, half: Sequence[int]) -> str:
        if placement is not None and placement.processors:
            return ",".join(map(str, placement.processors))
        mask = placement.mask if placement is not None else half
        return f"free on {placements.ranges(mask)}" if mask else "free"

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
        topology = self._halves[0] if self._halves else self._topology
        free = placements.place("none", 1, topology)
        masks = [self.of(setting, "") or dataclasses.replace(free, threads=self._threads(setting)) for setting in (one, other)]
        return len(placements.coinciding(masks, topology)) == 1


def but_for_placement(setting: Setting) -> Setting:
    """With what its memory policy comes to on this machine: all that one node allows is the same, and first touch is local."""
    levels = tuple(level for level in setting.levels if level[0] not in ("pin", "smt", "spare", "memory"))
    online = online_nodes()
    policy, nodes, rules = setting.memory, setting.nodes or tuple(online), setting.memory_rules
    if rules is not None and len(online) == 1:
        policy, rules = "local", None
    if policy is not None and (policy in ("local", "first-touch") or list(nodes) == online[:1] == online):
        policy, nodes = "local", ()
    return dataclasses.replace(setting, levels=levels, pinning="", pinning_file=None, siblings=True, spared_cores=0, memory=policy, nodes=nodes,
                               memory_rules=rules, label="")


class Check:
    """Whether a run's output is right: the same as that of the command's first run, or by a checker that reads it on stdin."""

    def __init__(self, how: str) -> None:
        self._how = how
        self._first: dict[tuple[str, ...], str] = {}

    def differs(self, command: tuple[str, ...], output: pathlib.Path, digest: str) -> bool:
        """Raises Error if the checker cannot be run."""
        if self._how == "none":
            return False
        if self._how == "same":
            return self._first.setdefault(command, digest) != digest
        with output.open("rb") as text, tempfile.TemporaryFile() as said:
            code = subprocess.run(self._how, shell=True, stdin=text, stdout=subprocess.DEVNULL, stderr=said, check=False).returncode
            said.seek(0)
            errors = said.read()
        if code in (126, 127):  # as a shell ends that cannot run a command
            why = printable(errors) or f"exit code {code}"
            raise Error(f"--check '{self._how}': cannot be run: {why}; correct that, then continue with --resume")
        sys.stderr.write(errors.decode(errors="replace"))
        return code != 0

    def remember(self, command: tuple[str, ...], digest: str) -> None:
        self._first.setdefault(command, digest)


Result = tuple[dict, Error | None]  # of a run: its line of the journal, and what of it could not be found out
Made = Generator[IO[str] | None, None, Result]  # a run that is being made


class Runs:
    """Makes the runs of a schedule that are not in the journal yet."""

    def __init__(self, settings: Sequence[Setting], journal: Journal, place: Place, metrics: Sequence[Metric], check: Check, seed: int,
                 time_limit: float | None, recorded: str | None, watch: Watch, regions: bool) -> None:
        """`recorded`: the functions of recorded runs, as a list's file or as names."""
        self._settings, self._journal, self._place, self._metrics, self._check, self._watch = settings, journal, place, metrics, check, watch
        self._seed, self._time_limit, self._recorded, self._regions, self._runner = seed, time_limit, recorded, regions, native.find(RUNNER)
        self._adopts = False

    def make(self, planned: Sequence[tuple[Planned, ...]], tell: Callable[[int, tuple[Planned, ...]], None]) -> None:
        """Those that are together in `planned` at once. Raises Error when a run fails: those before it are in the journal. It is, too, if it ended
        well and something that is asked of it cannot be found out: it would be the same in the next one."""
        self._adopts = adopt()
        with scratch.folder() as folder, contextlib.ExitStack() as at_the_end:
            if self._adopts:
                at_the_end.callback(end_adopted)  # what checkers have left
            for number, together in enumerate(planned):
                tell(number, together)
                made = self._at_once(together, folder)
                lines = [line for line, _ in made]
                self._journal.append({DUET: lines} if len(lines) > 1 else lines[0])
                for _, problem in made:
                    if problem is not None:
                        raise problem

    def _at_once(self, planned: Sequence[Planned], folder: pathlib.Path) -> list[Result]:
        """One run, or the two of a duet."""
        with contextlib.ExitStack() as ends:
            if len(planned) == 1:
                runs = [self._run(planned[0], folder)]
            else:
                go, begin = os.pipe()
                ends.callback(os.close, go)
                runs = []
                for number, (each, half) in enumerate(zip(planned, self._place.halves(), strict=True)):
                    own = folder / str(number)
                    own.mkdir(exist_ok=True)
                    runs.append(self._run(each, own, number, Duet(half, go)))
            for each in runs:
                ends.callback(each.close)  # which ends its runner
            if len(runs) > 1:
                begins = ends.enter_context(open(begin, "wb"))  # closed before all else: a runner that waits for it waits for nothing else
                for each in runs:
                    next(each)
                begins.close()
            return finished(runs, planned[0].warm_up)

    def _run(self, planned: Planned, folder: pathlib.Path, half: int = 0, duet: Duet | None = None) -> Made:
        """Yields what is to be waited for: one of a duet when it is ready to begin, and all while they run; None when it has ended: what is done with
        it then would disturb the other one. Returns its line of the journal, and what of it could not be found out."""
        setting = self._settings[planned.setting]
        placement = self._place.of(setting, planned.seed(self._seed), half)
        output, errors, trace, counts, account = (folder / name for name in ("out", "errors", "trace.bin", "regions", "memory"))
        environment = environment_of(setting)
        command = list(setting.command)
        if planned.recorded:
            command = [program(), "record", "-f", self._recorded, "-o", str(trace), "--", *command]
        request: dict[str, object] = {
            "study": os.getpid(), "command": list(map(bytewise, command)), "stdout": bytewise(output), "stderr": bytewise(errors),
            "co_runners": self._place.co_runners(setting, placement), **self._watch.request(setting, placement)}
        if placement is not None:
            request["processors"] = sorted(placement.mask)
            if placement.processors:  # where threads are free, what the program does with them is its own
                environment.update(placement.environment)
            environment.update(native.pinned(placement, environment.get("LD_PRELOAD", "")))
        if duet is not None:
            request.setdefault("processors", duet.half)
            request["go"] = duet.go
        if self._regions:
            try:
                counts.write_bytes(COUNTED + bytes(3 * 8))
            except OSError:
                raise Error(f"{counts}: cannot be written, to count parallel regions") from None
            environment.update({"LD_PRELOAD": native.preloaded(REGIONS, environment.get("LD_PRELOAD", "")), "RDAM_REGIONS_FILE": str(counts)})
        if setting.randomized is not None:
            request["randomize"] = setting.randomized
        if setting.memory_rules is not None:
            environment.update(memory.variables(setting.memory_rules, planned.seed(self._seed), account, environment.get("LD_PRELOAD", "")))
        if setting.memory is not None:
            request["memory"] = {"policy": setting.memory, "nodes": list(setting.nodes) or online_nodes()}
        if self._time_limit is not None:
            request["time_limit_s"] = self._time_limit
        request["environment"] = [bytewise(f"{name}={value}") for name, value in environment.items()]
        at = time.time()
        with self._watch.kept():
            answer, pinned = yield from self._ask(request, placement if planned.warm_up else None, duet)
        self._fail_if(answer, setting, errors)
        yield None
        line = {"setting": planned.setting, "round": planned.round, "warm_up": planned.warm_up, "recorded": planned.recorded, "at": at}
        own = answer["all_cpu_ns"] / 1e9  # of the program, of what it left behind and of the co-runners
        line["others_s"] = max(answer["busy_s"] - own, 0.0)
        if placement is not None and placement.processors:
            line["processors"] = list(placement.processors)
        if duet is not None:
            line["half"] = duet.half
        if pinned is not None:
            line["pinned"] = pinned
        with output.open("rb") as text:
            line["output"] = hashlib.file_digest(text, "sha256").hexdigest()
        problems = []
        try:
            line["output_differs"] = self._check.differs(setting.command, output, line["output"])
        except Error as error:
            line["output_differs"] = None
            problems.append(error)
        if planned.recorded:
            # There is no trace if no function was called.
            line["program_ns"], line["functions"] = scores(trace) if trace.exists() else (answer["wall_ns"], [])
            trace.unlink(missing_ok=True)
        if self._metrics:
            text = output.read_text(errors="replace")
            line["metrics"] = {}
            for metric in self._metrics:
                try:
                    line["metrics"][metric.name] = metric.values(text)
                except Error as error:
                    problems.append(error)
        line.update({name: value for name, value in answer.items() if name not in ("too_long", "interrupted", "exit_code", "signal")})
        if setting.memory_rules is not None:
            line.update(memory.read(account, setting.memory_rules))
        if self._regions:
            # Of a program of which no region was seen, nothing is known: it may have begun some.
            found = struct.unpack("8x3Q", counts.read_bytes()) if counts.is_file() and counts.stat().st_size == len(COUNTED) + 3 * 8 else [0]
            line.update(zip(("regions", "moved_regions", "moves"), found if found[0] else [None] * 3, strict=True))
        return line, problems[0] if problems else None

    def _ask(self, request: dict, watched: placements.Placement | None, duet: Duet | None) -> Generator[IO[str], None, tuple[dict, str | None]]:
        """The answer, and how the program's threads were seen to be pinned: looking disturbs, so only warm-ups are looked at."""
        seen = answer = None
        process = subprocess.Popen([self._runner], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=(duet.go,) if duet else ())
        try:
            with process:
                try:
                    with contextlib.suppress(BrokenPipeError, ProcessLookupError):  # it has ended, and gives no answer
                        if duet:  # so that it counts what these processors do
                            os.sched_setaffinity(process.pid, duet.half)
                        process.stdin.write(json.dumps(request))
                        process.stdin.close()
                    while (said := json.loads(process.stdout.readline() or "null")) is not None and said.keys() & {"ready", "pid"}:
                        if "pid" in said and watched is not None:
                            seen = readback.ReadBack(said["pid"], watched)
                        while not select.select([process.stdout], [], [], 0)[0]:
                            if seen is not None:
                                seen.poll()
                            yield process.stdout
                    answer = said
                except BaseException:
                    process.terminate()  # which ends all that it has started
                    process.wait()
                    raise
        finally:
            # Who has measured a run has ended all that it left.
            if self._adopts and (answer is None or "wall_ns" not in answer):
                end_adopted()
        if answer is None:
            raise Error(f"{RUNNER} ended without an answer ({ending(process.returncode)}); continue with --resume")
        return answer, seen.sentence() if seen is not None and seen.threads else None

    def _fail_if(self, answer: dict, setting: Setting, errors: pathlib.Path) -> None:
        if "error" in answer:
            raise Error(answer["error"])
        if answer["interrupted"]:
            raise KeyboardInterrupt
        what = f"a run with '{setting.label}'" if setting.levels else "a run"
        if answer["too_long"]:
            raise Error(f"{what} took longer than {self._time_limit:g} s; give it more by --time-limit, then continue with --resume")
        if answer["exit_code"] != 0:
            why = f"exit code {answer['exit_code']}" if answer["signal"] is None else f"signal {answer['signal']}"
            raise Error(f"{what} ended with {why}{': ' + last if (last := last_line(errors)) else ''}; correct that, then continue with --resume")


def finished(runs: Sequence[Made], are_looked_at: bool) -> list[Result]:
    """What they return, when all have ended. Each goes on when what it waits for is there, or every 20 ms."""
    waiting = {each: next(each) for each in runs}
    while waiting := {each: file for each, file in waiting.items() if file is not None}:
        ready = select.select(list(waiting.values()), [], [], 0.02 if are_looked_at else None)[0]
        for each, file in waiting.items():
            if are_looked_at or file in ready:
                waiting[each] = next(each)
    return list(map(returned, runs))


def returned(ended: Made) -> Result:
    """By a run that has nothing to wait for."""
    try:
        next(ended)
    except StopIteration as end:
        return end.value


def last_line(path: pathlib.Path) -> str:
    """What a program printed last."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4096, 0))
        return printable(file.read())


def printable(text: bytes, most: int = 300) -> str:
    """Its last line, without what would change a terminal."""
    lines = text.decode(errors="replace").strip().splitlines() or [""]
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

    def __call__(self, number: int, planned: tuple[Planned, ...]) -> None:
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
        text = f"{'run' if len(planned) == 1 else 'duet'} {number + 1} of {self._total}" + (f", {duration(left)} left" if left is not None else "")
        text += f": {' and '.join(self._settings[each.setting].label for each in planned)}"
        text += " (warm-up)" if planned[0].warm_up else " (recorded)" if planned[0].recorded else ""
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
