"""A run, in the parts in which it was made: every task that has not been measured yet, in the order of the plan."""

import contextlib
import datetime
import itertools
import sys
import time
from collections.abc import Callable

from . import machine
from .journal import Journal, Measurements
from .plan import Task


def measure_all(tasks: list[Task], journal: Journal, measure: Callable[[Task], dict]) -> int:
    """Returns how many had been measured before. What is finished is kept, whatever ends this."""
    left = [task for task in tasks if task.key not in journal.entries]
    before = len(tasks) - len(left)
    if left:
        journal.add_note("start", time=machine.now(), load=machine.load(), revision=machine.revision())
        with contextlib.closing(Progress(len(tasks), before)) as progress:
            for task in left:
                progress.starting(f"round {task.round + 1}: {task.group}")
                journal.add_result(task, measure(task), machine.now())
        journal.add_note("end", time=machine.now(), load=machine.load())
    return before


class Progress:
    """Where a run is: one line, rewritten, on standard error if that is a terminal; nothing else where it is not."""

    def __init__(self, total: int, done: int, stream=sys.stderr):
        self._stream = stream if stream.isatty() else None
        self._total, self._done, self._began = total, done, time.monotonic()
        self._first = done

    def starting(self, label: str) -> None:
        left = ""
        if measured := self._done - self._first:
            minutes, seconds = divmod(round((time.monotonic() - self._began) / measured * (self._total - self._done)), 60)
            left = f", {minutes}:{seconds:02} left"
        self._done += 1
        self._write(f"[{self._done}/{self._total}] {label}{left}")

    def close(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\033[K{text}")
            self._stream.flush()


def parts_of(tasks: list[Task], measured: Measurements) -> list[dict]:
    """The parts of the run in which these tasks were measured: `start`, `load_start`, `revision` (of the sources), and `end`,
    `load_end` if it was not ended early. Of one that was, `end` is when its last measurement was finished, if that is known."""
    used = {measured.entries[task.key]["notes"] for task in tasks}
    found = []
    for number, (note, following) in enumerate(itertools.zip_longest(measured.notes, measured.notes[1:]), 1):
        if number not in used:
            continue
        part = {"start": note["time"], "load_start": note["load"], "revision": note.get("revision", "")}
        if following is not None and following["note"] == "end":
            part |= {"end": following["time"], "load_end": following["load"]}
        elif last := max((entry.get("time", "") for entry in measured.entries.values() if entry["notes"] == number), default=""):
            part["end"] = last
        found.append(part)
    return found


def moment(part: dict, which: str) -> datetime.datetime:
    """`start` or `end` of a part."""
    return datetime.datetime.fromisoformat(part[which]).astimezone(datetime.UTC)


def length(parts: list[dict]) -> str:
    """Of all parts together."""
    if not all("end" in part for part in parts):
        return "how long is not known"
    taken = int(sum((moment(part, "end") - moment(part, "start")).total_seconds() for part in parts))
    return " ".join([f"{taken // 3600} h"] * (taken >= 3600) + [f"{taken // 60 % 60} min"] * (taken >= 60) + [f"{taken % 60} s"])


def _from_to(part: dict) -> str:
    begun = moment(part, "start")
    if "end" not in part:
        return f"from {begun:%Y-%m-%d %H:%M:%S} until it was interrupted"
    ended = moment(part, "end")
    day = "" if ended.date() == begun.date() else f"{ended:%Y-%m-%d} "
    return f"from {begun:%Y-%m-%d %H:%M:%S} to {day}{ended:%H:%M:%S}{'' if 'load_end' in part else ' (interrupted)'}"


def when(parts: list[dict]) -> str:
    """From when to when, and how long that is, in words."""
    if len(parts) == 1:
        return f"{_from_to(parts[0])} UTC ({length(parts)})"
    return f"in {len(parts)} parts ({length(parts)}), {', '.join(map(_from_to, parts))} UTC"
