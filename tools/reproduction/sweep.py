"""The run: every task that has not been measured yet, in the order of the plan."""

import contextlib
import itertools
from collections.abc import Callable, Iterator

from . import machine, plan
from .journal import Journal, Measurements, key_of
from .progress import Progress

Measure = Callable[[plan.Task], dict]


@contextlib.contextmanager
def _session(journal: Journal) -> Iterator[None]:
    """Notes when a part of a run began and ended, and how busy the machine was."""
    journal.add_note("start", time=machine.now(), load=machine.load(), revision=machine.revision())
    yield
    journal.add_note("end", time=machine.now(), load=machine.load())


def measure_all(tasks: list[plan.Task], place: dict, journal: Journal, measure: Measure) -> int:
    """Returns how many had been measured before. What is finished is kept, whatever ends this."""
    all_tasks = [(task, plan.identified(task, place)) for task in tasks]
    left = [(task, settings) for task, settings in all_tasks if journal.result(key_of(settings)) is None]
    before = len(tasks) - len(left)
    if not left:
        return before
    progress = Progress(len(tasks), before)
    with _session(journal), contextlib.closing(progress):
        for task, settings in left:
            progress.starting(f"round {task.round + 1}: {task.group}")
            journal.add_result(key_of(settings), settings, measure(task), machine.now())
            progress.finished()
    return before


def sessions(tasks: list[plan.Task], place: dict, measured: Measurements) -> list[dict]:
    """The parts of the run in which these tasks were measured: `start`, `load_start`, `revision` (of the sources), and `end`,
    `load_end` if it was not ended early. Of one that was, `end` is when its last measurement was finished, if that is known."""
    used = {measured.notes_before(key_of(plan.identified(task, place))) for task in tasks}
    found = []
    for number, (note, following) in enumerate(itertools.zip_longest(measured.notes, measured.notes[1:]), 1):
        if number not in used:
            continue
        part = {"start": note["time"], "load_start": note["load"], "revision": note.get("revision", "")}
        if following is not None and following["note"] == "end":
            part |= {"end": following["time"], "load_end": following["load"]}
        elif last := measured.last_time(number):
            part["end"] = last
        found.append(part)
    return found
