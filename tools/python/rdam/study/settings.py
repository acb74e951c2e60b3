"""What a study compares: the settings, which are its factors crossed."""

import dataclasses
import itertools
import os
import pathlib
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rdam.study import memory as memory_policies
from rdam.study import placements
from rdam.trace import Error


def bytewise(text: str | pathlib.Path) -> str:
    """A character for each byte, as rdam-study-run takes what need not be UTF-8."""
    return os.fsencode(text).decode("latin-1")


@dataclasses.dataclass(frozen=True)
class CoRunners:
    """What runs beside the program: listings 2, 5 and 6 of Mazouz, Touati, Barthou (inria-00514548, section 5), or any command."""

    each: int = 0  # for every processor that the program may use
    kind: str = "busy"  # or sleep, array, command
    sleep_us: int = 0
    longs: int = 196608
    command: tuple[str, ...] = ()
    bound: bool = True  # to these processors

    def request(self) -> dict[str, object]:
        """As rdam-study-run takes it, without the processor."""
        return {"kind": self.kind, "sleep_us": self.sleep_us, "longs": self.longs, "command": list(map(bytewise, self.command))}


@dataclasses.dataclass(frozen=True)
class Level:
    """One of a factor's, and what a setting has that has it."""

    factor: str
    text: str
    changes: Mapping[str, object] = dataclasses.field(default_factory=dict)  # by the setting's fields
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of its environment
    is_filled_in: bool = False  # where the command has the factor's name in braces


@dataclasses.dataclass(frozen=True)
class Setting:
    """One of the ways in which the program is run. `levels` has a text for each factor, in the order in which they were given."""

    levels: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()  # besides the study's own
    threads: int | None = None
    pinning: str = "none"
    pinning_file: pathlib.Path | None = None
    siblings: bool = True
    spared_cores: int = 0
    co_runners: CoRunners = CoRunners()
    environment_bytes: int | None = None  # nothing but so many bytes, if it is a number
    randomized: bool | None = None  # the addresses; None: as the system has it
    memory: str | None = None  # the process's policy
    nodes: tuple[int, ...] = ()
    memory_rules: str | None = None  # policies of areas
    large_pages: bool | None = None
    prefetcher: bool | None = None  # that of the hardware; None: as it is
    label: str = ""  # those of its levels that not all settings have

    def with_level(self, level: Level) -> "Setting":
        command = filled(self.command, level.factor, level.text) if level.is_filled_in else self.command
        kept = ((name, value) for name, value in self.environment if name not in level.variables)
        return dataclasses.replace(self, levels=(*self.levels, (level.factor, level.text)), command=command,
                                   environment=(*kept, *level.variables.items()), **level.changes)


MOST = 1_000_000  # of anything that is counted; of co-runners for each processor (the papers have four):
MOST_CO_RUNNERS = 64
MOST_BYTES = 131_000  # of one variable: the kernel's limit is 128 KiB
COMMAND = "command"  # the factor whose levels are those of --setting
PROGRAM = "program"  # and of --program; settings of different ones are not compared


Levels = Callable[[str, str], Iterable[Level]]  # of what was given to an option, and of its name; raises Error


def split(text: str) -> list[str]:
    """At commas. What is in quotes stays together, quotes included. Raises Error for a quote without an end."""
    parts = re.findall(r"""((?:[^,'"]|'[^']*'|"[^"]*")*)(,|$|['"])""", text)
    if any(end not in (",", "") for _, end in parts):
        raise Error(f"{text}: a quotation has no end; close it, or put the quote into quotes of the other kind")
    # Behind the last part, at the end, the pattern finds nothing once more.
    return [part.strip() for part, end in parts[:next(i for i, (_, end) in enumerate(parts) if end == "") + 1]]


def unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def number(text: str, option: str, least: int = 0, most: int = MOST) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise Error(f"--{option} {text}: is no whole number from {least} to {most}; give one")
    return int(text)


def numbers(text: str, option: str, least: int = 0, most: int = MOST) -> Iterator[int]:
    """Of `1,2,4` and of `0..4095/63`: from, to, step."""
    for part in split(text):
        if found := re.fullmatch(r"(\d+)\.\.(\d+)(?:/(\d+))?", part):
            first, last, step = int(found[1]), number(found[2], option, least, most), int(found[3] or 1)
            if step == 0 or last < first:
                raise Error(f"--{option} {part}: has no numbers in it; write FROM..TO/STEP")
            yield from range(max(first, least), last + 1, step)
        else:
            yield number(part, option, least, most)


def chosen(text: str, option: str, words: Sequence[str]) -> Iterator[str]:
    for part in split(text):
        if part not in words:
            raise Error(f"--{option} {part}: is none of {', '.join(words)}; give one of them")
        yield part


def filled(command: Sequence[str], name: str, value: str) -> tuple[str, ...]:
    return tuple(word.replace(f"{{{name}}}", value) for word in command)


def counts(field: str, factor: str = "", unit: str = "", **limits: int) -> Levels:
    """Numbers for a field of the setting."""
    return lambda text, option: (Level(factor or option, f"{count}{unit}", {field: count}) for count in numbers(text, option, **limits))


def switch(field: str, on: str, *words: str) -> Levels:
    """One of two words, of which one switches a field of the setting on."""
    return lambda text, option: (Level(option, word, {field: word == on}) for word in chosen(text, option, words))


def threads(text: str, option: str) -> Iterator[Level]:
    for count in numbers(text, option, 1):
        yield Level(option, str(count), {"threads": count}, {"OMP_NUM_THREADS": str(count)}, is_filled_in=True)


def pinning(text: str, option: str) -> Iterator[Level]:
    for part in split(text):
        strategy, _, path = part.partition(":")
        next(chosen(strategy, option, placements.STRATEGIES))
        if (strategy == "file") != bool(path):
            raise Error(f"--pin {part}: only `file` names a file, as in file:processors.txt")
        # Beside settings with pinned threads, none has threads that are free, whatever the user's OMP_PROC_BIND is.
        free = {"OMP_PROC_BIND": "false"} if strategy == "none" else {}
        yield Level(option, part, {"pinning": strategy, "pinning_file": pathlib.Path(path) if path else None}, free)


def co_runner(text: str) -> CoRunners:
    """`0`, `2xbusy`, `1xsleep:10us`, `1xarray:100000`, `1x'stress-ng --vm 1'`; `@free` behind it: not bound."""
    what, _, place = text.partition("@")
    found = re.fullmatch(r"(\d+)(?:x(.+))?", what)
    if not found or place not in ("", "free") or (found[2] is None and int(found[1]) > 0):
        raise Error(f"--co-runners {text}: is not understood; write 0, or as in 2xbusy, 1xsleep:10us, 1xarray:196608, 1x'COMMAND', 2xbusy@free")
    count, kind, bound = number(found[1], "co-runners", 0, MOST_CO_RUNNERS), found[2] or "busy", place == ""
    name, _, value = kind.partition(":")
    if kind[0] in "'\"":
        if not (command := words(unquoted(kind), f"--co-runners {text}")):
            raise Error(f"--co-runners {text}: has no command between the quotes; write 1x'COMMAND'")
        return CoRunners(count, "command", command=command, bound=bound)
    if name == "busy" and not value:
        return CoRunners(count, bound=bound)
    if name == "array":
        return CoRunners(count, "array", longs=number(value or "196608", "co-runners", 1), bound=bound)
    if name == "sleep" and (time := re.fullmatch(r"(\d+)(us|ms)", value)):
        return CoRunners(count, "sleep", sleep_us=int(time[1]) * (1000 if time[2] == "ms" else 1), bound=bound)
    raise Error(f"--co-runners {text}: '{kind}' is none of busy, sleep:TIME (as in 10us, 10ms), array:LONGS, 'COMMAND'")


def co_runners(text: str, option: str) -> Iterator[Level]:
    for part in split(text):
        yield Level(option, part, {"co_runners": co_runner(part)})


def memory(text: str, option: str) -> Iterator[Level]:
    """First touch is what the kernel does where no policy is set: the same as local."""
    for part in split(text):
        found = re.fullmatch(r"(local|first-touch|interleave|bind:(\d+(?:\+\d+)*))", part)
        if not found:
            rules = unquoted(part)
            memory_policies.check(rules)
            yield Level(option, rules, {"memory_rules": rules})
            continue
        policy = part.partition(":")[0]
        nodes = tuple(int(node) for node in found[2].split("+")) if found[2] else ()
        yield Level(option, part, {"memory": policy, "nodes": nodes})


def named(text: str, option: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not name or not equals:
        raise Error(f"--{option} {text}: write NAME=VALUE,VALUE")
    if name in NAMED_COMMANDS.values():
        raise Error(f"--{option} {text}: '{name}' is what the commands of --setting or --program are called; give another name")
    return name, [unquoted(value) for value in split(values)]


def variable(text: str, option: str) -> Iterator[Level]:
    name, values = named(text, option)
    for value in values:
        yield Level(name, value, variables={name: value})


def value_of_command(text: str, option: str) -> Iterator[Level]:
    name, values = named(text, option)
    for value in values:
        yield Level(name, value, is_filled_in=True)


# By option, in the order in which they are told; the commands of --setting and --program come before all.
FACTORS: dict[str, Levels] = {
    "values": value_of_command, "threads": threads, "pin": pinning, "smt": switch("siblings", "use", "use", "spare"),
    "spare": counts("spared_cores"), "co-runners": co_runners,
    "env-size": counts("environment_bytes", "environment", " bytes", most=MOST_BYTES), "randomize": switch("randomized", "on", "on", "off"),
    "pages": switch("large_pages", "large", "small", "large"), "memory": memory, "prefetcher": switch("prefetcher", "on", "on", "off"),
    "env": variable}


NAMED_COMMANDS = {"setting": COMMAND, "program": PROGRAM}  # by option: the factor


def words(command: str, option: str) -> tuple[str, ...]:
    """As a shell splits it. Raises Error."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise Error(f"{option}: cannot be split into words: {error}; quote it otherwise") from None


def commands(request: dict) -> list[Setting]:
    """Those given by --setting or --program NAME=COMMAND, and otherwise the one behind the options."""
    options = [option for option in NAMED_COMMANDS if option in request]
    if not options:
        return [Setting(command=tuple(request["command"]))]
    if len(options) > 1:
        raise Error("--setting and --program: both name commands; give either, and name what differs within each program by --values")
    (option,) = options
    if request["command"]:
        raise Error(f"a command after the options and one in --{option}: give either")
    found = []
    for text in request[option]:
        name, equals, command = text.partition("=")
        if not name or not equals or not words(command, f"--{option} {text}"):
            raise Error(f"--{option} {text}: write NAME=COMMAND")
        found.append(Setting(levels=((NAMED_COMMANDS[option], name),), command=words(command, f"--{option} {text}")))
    return found


def crossed(request: dict) -> list[Setting]:
    """All settings of a request, whose keys are the options' names. Raises Error for what is not understood."""
    every = [list(levels(text, option)) for option, levels in FACTORS.items() for text in request.get(option, [])]
    settings = []
    for text, setting in itertools.product(request.get("values", []), commands(request)):
        name = text.partition("=")[0]
        if not any(f"{{{name}}}" in word for word in setting.command):
            command = " ".join(setting.command)
            raise Error(f"--values {text}: there is no {{{name}}} in '{command}', which would be the same with each value; put it in")
    for setting, *levels in itertools.product(commands(request), *every):
        for level in levels:
            setting = setting.with_level(level)
        for word in setting.command:
            if left := re.search(r"\{([A-Za-z_]\w*)\}", word):
                if left[1] in ("threads", *(text.partition("=")[0] for text in request.get("values", []))):
                    raise Error(f"{{{left[1]}}} in '{word}' could not be filled")
        if setting.pinning == "none" and memory_policies.needs_pinning(setting.memory_rules or ""):
            raise Error(f"--memory {setting.memory_rules}: bind_block gives each thread's block to the node that the thread is pinned to, and "
                        "without --pin no thread is: give --pin compact or another strategy, in every setting that has it")
        settings.append(setting)
    return labelled(settings)


def program_of(levels: Iterable[tuple[str, str]]) -> str | None:
    """A setting's, of several."""
    return dict(levels).get(PROGRAM)


def level_text(factor: str, level: str) -> str:
    return level if factor in (COMMAND, PROGRAM) else f"{factor} {level or repr(level)}"


def label_of(levels: Iterable[tuple[str, str]]) -> str:
    return ", ".join(level_text(factor, level) for factor, level in levels) or "as it is"


def named_levels(text: str, labels: Mapping[frozenset[tuple[str, str]], str]) -> dict[str, str]:
    """By factor, the levels that the value of --beside is made of, as a label is. `labels` has the levels of all settings. Raises Error if it
    is no such value."""
    levels = {level_text(factor, level): (factor, level) for setting in labels for factor, level in setting}

    def parts(rest: str) -> list[tuple[str, str]] | None:
        for known, level in levels.items():
            if rest == known:
                return [level]
            if rest.startswith(f"{known}, ") and (others := parts(rest.removeprefix(f"{known}, "))) is not None:
                return [level, *others]
        return None

    found = dict(parts(text) or ())
    if not found:
        raise Error(f"--beside {text}: is no setting of this study, nor a level: give all, one of {', '.join(map(repr, labels.values()))}, "
                    "or a part of one between commas")
    if all(found.items() <= dict(setting).items() for setting in labels):
        raise Error(f"--beside {text}: all settings have it, and each would be compared with itself; give a level that not all have")
    return found


def labelled(settings: Sequence[Setting]) -> list[Setting]:
    """Raises Error where one is there twice."""

    every = [setting.levels for setting in settings]
    if twice := next((levels for levels in every if every.count(levels) > 1), None):
        raise Error(f"the setting '{label_of(twice)}' would be there twice: leave one out")
    shared = set.intersection(*map(set, every)) if len(every) > 1 else set()
    labels = [label_of(level for level in levels if level not in shared) for levels in every]
    return [dataclasses.replace(setting, label=label) for setting, label in zip(settings, labels, strict=True)]


def own_environment() -> dict[str, str]:
    """As the study was given it. In os.environ Python has LC_CTYPE besides, where the locale is C (PEP 538)."""
    given = pathlib.Path("/proc/self/environ").read_bytes().split(b"\0")
    return dict(os.fsdecode(each).split("=", 1) for each in given if b"=" in each)


def environment_of(setting: Setting) -> dict[str, str]:
    """What the program's environment is without what pins it."""
    if setting.environment_bytes is not None:
        # One variable of so many bytes, its name, its equals sign and its end included; less than three bytes are nothing.
        size = setting.environment_bytes
        variables = {"E": "x" * (size - 3)} if size >= 3 else {}
    else:
        variables = own_environment()
    variables.update(setting.environment)
    if setting.large_pages is not None:
        # glibc 2.35 and later ask for large pages where the kernel gives them on request.
        variables["GLIBC_TUNABLES"] = f"glibc.malloc.hugetlb={1 if setting.large_pages else 0}"
    return variables
