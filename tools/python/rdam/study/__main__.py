"""`rdam study`, behind its command line: the request is the JSON object in argument 2, whose keys are the options' names; the
program's words are behind it."""

import collections
import contextlib
import importlib.util
import json
import os
import pathlib
import random
import shlex
import signal
import sys
import time
import tomllib
from collections.abc import Sequence

from rdam.study import journal, machine, runs, settings, watch  # what needs scipy or numpy is imported when it is known to be there
from rdam.trace import Error

# Of a configuration file, besides the factors and other options that may be given more than once.
OPTIONS = {"runs": int, "warmups": int, "seed": int, "risk": float, "quick": bool, "json": bool, "duet": bool, "check": str, "output": str,
           "record": str, "record-every": int, "regions": bool, "time-limit": float, "beside": str, "frequencies": bool,
           "frequencies-every": float, "osnoise": bool, "csv": str, "html": str, "parquet": str}
RANGES = {"runs": (3, 100_000), "warmups": (0, 100_000), "seed": (0, 2**32 - 1), "record-every": (1, 100_000), "risk": (0.0001, 0.5)}
# What may be said of a study that is there: how to print it, and how long a run may take from now on.
OF_PRINTING = {"json", "csv", "html", "parquet", "risk", "beside"}
GOES_WITH = {"show": OF_PRINTING, "resume": OF_PRINTING | {"time-limit"}}
FILES = ("output", "resume", "show", "config", "csv", "html", "parquet")
BAD_INPUT, USAGE = 1, 2  # exit codes, as the rdam command has them (docs/design.md, section 3)
QUICK_RUNS = 11
RUNS = 31  # as in the reports


class UsageError(Error):
    """What was typed is not understood."""


@contextlib.contextmanager
def understood():
    """What is wrong in it is so with what was typed."""
    try:
        yield
    except Error as error:
        raise UsageError(str(error)) from None


def put(text: str, place: str) -> None:
    if place == "-":
        print(text, end="", flush=True)
        return
    try:
        pathlib.Path(place).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"{place}: cannot be written: {error.strerror}; name another file") from None


def text_of(value) -> str:
    """An option's value as it is typed."""
    return ",".join(f'"{each}"' if "," in str(each) else str(each) for each in value) if isinstance(value, list) else str(value)


def configured(path: str) -> dict:
    """The request of a TOML file: its keys are the options' names, lists stand for what is separated by commas, tables for NAME=VALUES, and
    `command` is the command. Raises Error."""
    try:
        table = tomllib.loads(pathlib.Path(path).read_text())
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error.strerror}; name a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Error(f"{path}: is no TOML: {error}") from None
    repeated = {*settings.FACTORS, *settings.NAMED_COMMANDS, "metric"}
    request: dict = {}
    for key, value in table.items():
        if key == "command" and isinstance(value, (str, list)):
            try:
                request[key] = shlex.split(value) if isinstance(value, str) else [str(word) for word in value]
            except ValueError as error:
                raise Error(f"{path}: command = {value!r} cannot be split into words: {error}; write it as a list") from None
        elif key in repeated:
            request[key] = [f"{name}={text_of(each)}" for name, each in value.items()] if isinstance(value, dict) else [text_of(value)]
        elif key in OPTIONS and OPTIONS[key] in (type(value), float if type(value) is int else None):
            least, most = RANGES.get(key, (value, value))
            if not least <= value <= most:
                raise Error(f"{path}: {key} = {value} is not from {least} to {most}: give such a number")
            request[key] = value
        else:
            raise Error(f"{path}: {key} = {value!r} is no option of rdam study, or none that takes this (times are numbers of seconds); see "
                        "rdam study --help")
    return request


def on_another_machine(every: Sequence[settings.Setting], placed: Sequence[str]) -> str:
    """Where threads would run there."""
    from rdam.study import present
    body = [[setting.label, processors] for setting, processors in zip(every, placed, strict=True)]
    return "\n".join(present.table(["setting", "processors of its threads, in their order"], body, numbers=False)) + "\n"


def new_head(request: dict, every: Sequence[settings.Setting], place: runs.Place) -> dict:
    """What a study's file begins with. Raises Error for what is not understood."""
    with understood():
        check_names([factor for factor, _ in every[0].levels])
        names = [runs.Metric.parse(text).name for text in request.get("metric", [])]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise Error(f"--metric {twice}=…: is there twice; give one of them another name")
        check_beside(request, every)
        for what in ("record", "frequencies"):
            if f"{what}-every" in request and request.get(what) in (None, False):
                raise Error(f"--{what}-every: says how often, but not what; give --{what} as well")
        watch.how_often(request)
    place.check(watch.Watch.of(request, every))
    equal = place.equal()
    kept = [setting for number, setting in enumerate(every) if number not in [later for later, _ in equal]]
    if request.get("duet"):
        with understood():
            check_duets(request, kept, [(every[later].label, every[earlier].label) for later, earlier in equal])
    rounds = request.get("runs") or (QUICK_RUNS if request.get("quick") else RUNS)
    return {"request": request, "command": request["command"], "rounds": rounds,
            "record_every": request.get("record-every", 1) if "record" in request else None,  # of how many rounds one has recorded runs besides
            "warm_ups": request.get("warmups", 1), "seed": request.get("seed", random.SystemRandom().randrange(2**32)),
            "processors": len(os.sched_getaffinity(0)),
            "labels": [setting.label for setting in kept], "levels": [setting.levels for setting in kept],
            "equal": [(every[later].label, every[earlier].label) for later, earlier in equal]}


def check_beside(request: dict, every: Sequence[settings.Setting]) -> None:
    """Before hours of runs, not behind them. Raises Error."""
    if request.get("beside") not in (None, "all"):
        settings.named_levels(request["beside"], {frozenset(setting.levels): setting.label for setting in every})


def check_duets(request: dict, kept: Sequence[settings.Setting], equal: Sequence[tuple[str, str]]) -> None:
    """Raises Error unless each program has two settings, and what is seen or changed besides is that of one run."""
    if alone := next((option for option in ("frequencies", "osnoise", "prefetcher") if request.get(option)), None):
        raise Error(f"--{alone}: concerns the whole machine, which two simultaneous runs share; leave out either this or --duet")
    programs = collections.Counter(settings.program_of(setting.levels) for setting in kept)
    for program, count in programs.items():
        if count != 2:
            of_it = f" of {program}" if len(programs) > 1 else ""
            same = "".join(f"; '{later}' is on this machine the same as '{earlier}'" for later, earlier in equal)
            raise Error(f"--duet: runs two settings at once, and{of_it} there {'is' if count == 1 else 'are'} {count}{same}: give two")


def check_names(factors: list[str]) -> None:
    """Raises Error for two columns of one name in the table of runs."""
    from rdam.study import present
    for name in factors:
        if factors.count(name) > 1:
            raise Error(f"two factors have the name '{name}': give one another, or write it into the commands of --setting")
        if present.is_column(name):
            raise Error(f"no factor can have the name '{name}', which a column of the table of runs has: give it another, or write it into the "
                        "commands of --setting")


def check_goes_together(request: dict) -> None:
    """Raises Error for options that would not be looked at, because the study has been begun without them, and for empty names of files."""
    if empty := next((option for option in FILES if request.get(option) == ""), None):
        raise Error(f"--{empty} '': is the name of no file; give one")
    for option, others in GOES_WITH.items():
        ignored = [key for key, value in request.items() if key not in others | {option} and (key != "command" or value)]
        if option in request and ignored:
            what = "the program" if ignored[0] == "command" else f"--{ignored[0]}"
            raise Error(f"--{option} takes the study as it was begun: leave out {what}, or begin another study")


def make_runs(path: pathlib.Path, request: dict, log: journal.Journal, place: runs.Place | None) -> None:
    """Those that are not in the file yet. `place` is that of a study that begins."""
    head, *lines = journal.lines(path)
    labels, crossed = set(head["labels"]), settings.crossed(head["request"])
    with understood():
        check_beside(request, crossed)
    request = {**head["request"], **({"time-limit": request["time-limit"]} if "time-limit" in request else {})}
    every = [setting for setting in crossed if setting.label in labels]
    if [setting.label for setting in every] != head["labels"]:
        raise Error(f"{path}: was begun by another version of rdam, which named the settings differently: continue with that version, "
                    "or begin another study")
    done = {runs.Planned(line["setting"], line["round"], line["warm_up"], line["recorded"]) for line in lines if "setting" in line}
    planned = runs.schedule(len(every), head["rounds"], head["warm_ups"], head["seed"], head["record_every"])
    left = [each for each in planned if each not in done]
    at_once = runs.duets(left, every) if request.get("duet") else [(each,) for each in left]
    if not left:
        return
    place = place or runs.Place(every, request.get("duet", False))
    if place.another_machines() is not None:
        raise Error(f"{path}: hwloc's variables describe another machine, on which nothing can be run: unset them, then continue with --resume")
    watched = watch.Watch.of(request, every)
    place.check(watched)
    state = machine.state()
    states = [line["machine"] for line in lines if line.get("before")]
    if states and (moved := machine.moved(states[-1], state)):
        print(f"rdam: {moved}", file=sys.stderr)
    check = runs.Check(request.get("check", "same"))
    for line in lines:
        if "setting" in line:
            check.remember(every[line["setting"]].command, line["output"])
    log.append({"machine": state, "before": True, "at": time.time()})
    progress = runs.Progress(every, len(at_once), machine.complaints(state))
    try:
        runs.Runs(every, log, place, [runs.Metric.parse(text) for text in request.get("metric", [])], check, head["seed"],
                  request.get("time-limit"), request.get("record"), watched,
                  request.get("regions", False)).make(at_once, progress)
    finally:
        progress.end()
    log.append({"machine": machine.state(), "before": False, "at": time.time()})


def main(request: dict) -> None:
    with understood():
        check_goes_together(request)
    if "config" in request:
        given = {key: value for key, value in request.items() if key not in ("config", "command") or value}
        request = {"command": [], **configured(request["config"]), **given}
    for needed in ("scipy", "pyarrow") if "parquet" in request else ("scipy",):
        if importlib.util.find_spec(needed) is None:  # before hours of runs, not behind them
            raise ModuleNotFoundError(name=needed)
    begins = not {"show", "resume"} & request.keys()
    if begins and not settings.NAMED_COMMANDS.keys() & request.keys() and not request["command"]:
        raise UsageError("no program to run: rdam study [OPTIONS] PROGRAM [ARGUMENTS]")
    path = pathlib.Path(request.get("resume") or request.get("show") or request.get("output", "study.jsonl"))
    place = None
    if begins:
        with understood():
            every = settings.crossed(request)
        place = runs.Place(every, request.get("duet", False))
        if (placed := place.another_machines()) is not None:
            put(on_another_machine(every, placed), "-")
            return
    if "show" not in request:
        try:
            log = journal.Journal(path, new_head(request, every, place) if begins else None)
            make_runs(path, request, log, place)
        except KeyboardInterrupt:
            print("rdam: interrupted" + (f"; continue with --resume {path}" if path.exists() else ""), file=sys.stderr)
            sys.exit(128 + signal.SIGINT)
    from rdam.study import page, present, results, verdicts
    study = results.Study.read(path)
    asked = {"risk": verdicts.RISK, "beside": None, **study.head["request"], **request}
    if asked["beside"] is not None:
        with understood():
            check_beside(asked, settings.crossed(study.head["request"]))
    rows = results.rows(study, asked["risk"], asked["beside"])
    if "json" in request:
        put(present.as_json(study, rows), "-")
    elif request.get("csv") != "-":
        put(present.text(study, rows), "-")
    if "csv" in request:
        put(present.as_csv(study), request["csv"])
    if "html" in request:
        put(page.page(study, rows), request["html"])
    if "parquet" in request:
        present.write_parquet(study, request["parquet"])


if __name__ == "__main__":
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) == signal.SIG_DFL:  # nohup has it ignored
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    try:
        main({"command": sys.argv[3:], **json.loads(sys.argv[2])})
    except Error as error:
        print(f"rdam: {error}", file=sys.stderr)
        sys.exit(USAGE if isinstance(error, UsageError) else BAD_INPUT)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
