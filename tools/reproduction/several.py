"""Runs side by side: this one, and earlier ones, of which nothing but the journals is there."""

import dataclasses
import pathlib

from . import journal, periods, plan, summary
from .benchmarks import COSTS, Sweep
from .summary import ControlResult, CostResult, SweepResult, number
from .sweep import sessions
from .trouble import Trouble

NOT_THERE = "—"
Column = dict[str, str]  # what stands in the row of that name


def _highest(sweeps: list[SweepResult], bounded: bool) -> str:
    controls: list[tuple[float, str, ControlResult]] = [(one.scored.median("rdam"), f"{result.sweep.name}, {one.control.name}", one)
                                                        for result in sweeps for one in result.controls if one.bounded == bounded]
    if not controls:
        return NOT_THERE
    score, name, _ = max(controls, key=lambda one: one[0])
    return f"{score:.3f} of {len(controls)}: {name}"


def column(sweeps: list[SweepResult], costs: list[CostResult], parts: list[dict], place: dict) -> Column:
    told = {"begun (UTC)": periods.begun(parts), "took": periods.length(parts), "programs": place["programs"],
            "machine": f"{place['processor']}, {place['processors']} processors"}
    for one in sweeps:
        told[f"{one.sweep.name}: ρ; mean varies; rounds that reach the thesis's ρ"] = (
            f"{number(one.rho)}; {number(one.span, '.1f')}×; {one.good_rounds} of {len(one.rho_of_rounds)}")
    if sweeps:
        told["highest control at the middle delay"] = _highest(sweeps, bounded=True)
        told["highest control at the least delay"] = _highest(sweeps, bounded=False)
    for cost in costs:
        told[f"cost of recording, {cost.cost.name}, {cost.cost.label}"] = number(cost.ratio)
    return told


def _complete(sweep: Sweep, rounds: dict[str, list[dict]], extent: plan.Extent) -> SweepResult | None:
    """Of the rounds that every point and control has; None if there is none."""
    groups = plan.groups_of_sweep(sweep, extent)
    count = min(len(rounds.get(group, [])) for group in groups)
    return summary.swept(sweep, {group: rounds[group][:count] for group in groups}, extent) if count else None


def _column_of(measured: journal.Measurements, extent: plan.Extent) -> Column | None:
    """Of what was measured last with the settings of this extent, however many rounds; None if nothing was."""
    last = measured.last_settings()
    wide = dataclasses.replace(extent, rounds=1 + max(settings["round"] for settings in measured.all_settings()))
    tasks = [task for task in plan.tasks(wide, {}) if measured.result(journal.key_of(plan.identified(task, last["place"]))) is not None]
    rounds = summary.rounds_of(tasks, last["place"], measured)
    sweeps = [_complete(sweep, rounds, extent) for sweep in extent.chosen_sweeps()]
    costs = [CostResult(cost, rounds[plan.group_of_cost(cost)]) for cost in COSTS if plan.group_of_cost(cost) in rounds]
    if not any(sweeps) and not costs:
        return None
    return column([one for one in sweeps if one is not None], costs, sessions(tasks, last["place"], measured), last["place"])


def read(path: pathlib.Path, extent: plan.Extent) -> Column:
    """Of the journal of an earlier run, which stays as it is."""
    measured = journal.read(path)
    try:
        found = _column_of(measured, extent) if measured.last_settings() else None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError):
        raise Trouble(f"{path}: is not as tools/reproduce writes it; {journal.OF_A_RUN}") from None
    if found is None:
        raise Trouble(f"{path}: nothing in it was measured with the settings of this run; name the journal of such a run with --beside")
    return found


def table(columns: list[Column]) -> tuple[list[str], list[list[str]]]:
    """Head and rows; the last column is this run's, which says what the rows are."""
    head = ["", *(f"run {i}" for i in range(1, len(columns))), "this run"]
    return head, [[name, *(one.get(name, NOT_THERE) for one in columns)] for name in columns[-1]]
