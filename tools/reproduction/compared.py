"""Runs side by side: this one, and earlier ones, of which nothing but the journals is there."""

import dataclasses
import pathlib

from . import Trouble, journal, session
from .plan import Extent, tasks
from .results import CostResult, SweepResult, costs_of, number, rounds_of, swept

NOT_THERE = "—"
Column = dict[str, str]  # what stands in the row of that name


def column(sweeps: list[SweepResult], costs: list[CostResult], parts: list[dict], place: dict) -> Column:
    """Of one run, with its parts and its place."""
    found = {"begun (UTC)": f"{session.moment(parts[0], 'start'):%Y-%m-%d %H:%M}", "took": session.length(parts), "programs": place["programs"],
             "machine": f"{place['processor']}, {place['processors']} processors"}
    found |= {f"{one.sweep.name}: ρ; mean varies; rounds that reach the thesis's ρ":
              f"{number(one.rho)}; {one.span:.1f}×; {one.good_rounds} of {one.rounds}" for one in sweeps}
    for bounded, where in ((True, "middle"), (False, "least")):
        controls = [(one.score, f"{result.sweep.name}, {one.control.name}") for result in sweeps for one in result.controls if one.bounded == bounded]
        if sweeps:
            score, name = max(controls, key=lambda one: one[0], default=(0, ""))
            found[f"highest control at the {where} delay"] = f"{score:.3f} of {len(controls)}: {name}" if controls else NOT_THERE
    return found | {f"cost of recording, {one.setting.title}": f"{one.ratio.value:.3f}" for one in costs}


def _column_of(measured: journal.Measurements, extent: Extent) -> Column | None:
    """Of what was measured last with the settings of this extent, however many rounds; None if nothing was. Of a sweep, the rounds that every
    point and control has."""
    every = [entry["settings"] for entry in measured.entries.values()]
    if not every:
        return None
    place = every[-1]["place"]
    wide = dataclasses.replace(extent, rounds=1 + max(settings["round"] for settings in every))
    found = [task for task in tasks(wide, place) if task.key in measured.entries]
    rounds, sweeps = rounds_of(found, measured), []
    for sweep in extent.chosen_sweeps():
        groups = [one.group for one in sweep.settings()]
        if whole := min(len(rounds[group]) for group in groups):
            sweeps.append(swept(sweep, {group: rounds[group][:whole] for group in groups}, extent))
    costs = costs_of(extent, rounds)
    return column(sweeps, costs, session.parts_of(found, measured), place) if sweeps or costs else None


def read(path: pathlib.Path, extent: Extent) -> Column:
    """Of the journal of an earlier run, which stays as it is."""
    measured = journal.read(path)
    try:
        found = _column_of(measured, extent)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError):
        raise Trouble(f"{path}: is not as tools/reproduce writes it; {journal.OF_A_RUN}") from None
    if found is None:
        raise Trouble(f"{path}: nothing in it was measured with the settings of this run; name the journal of such a run with --beside")
    return found


def table(columns: list[Column]) -> tuple[list[str], list[list[str]]]:
    """Head and rows; the last column is this run's, which says what the rows are."""
    head = ["", *(f"run {i}" for i in range(1, len(columns))), "this run"]
    return head, [[name, *(one.get(name, NOT_THERE) for one in columns)] for name in columns[-1]]
