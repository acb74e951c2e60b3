"""What a study found: for people, as JSON, and every run as CSV."""

import csv
import dataclasses
import io
import itertools
import json
import math
from collections.abc import Sequence

import numpy

from rdam.study import causes, machine, placements, results, series, verdicts
from rdam.study.results import Row, Study
from rdam.trace import Error


MOST_FUNCTIONS = 5  # of a setting that are shown


def scaled(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def interval(found: series.Interval) -> str:
    return f"{scaled(found.low)} to {scaled(found.high)}" if not math.isnan(found.low) else "too few runs"


def percent(share: float) -> str:
    if math.isnan(share):
        return "-"
    return f"{100 * share:.0f} %" if abs(share) >= 0.1 else f"{100 * share:.2g} %"


def table(head: list[str], body: list[list[str]], numbers: bool = True) -> list[str]:
    """The first column is text, the others too unless they are numbers. Nothing without a body."""
    if not body:
        return []
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    aligned = ["<"] + [">" if numbers else "<"] * (len(head) - 1)
    return ["  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, aligned, widths, strict=True)).rstrip() for row in [head, *body]]


def times_table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    body = [[row.setting.label, str(row.times.runs), scaled(row.times.median.value), interval(row.times.median), scaled(row.times.mean.value),
             percent(row.times.variation), f"{row.times.least_to_mean:.3f}", f"{row.times.greatest_to_mean:.3f}", scaled(row.cpu.median.value)]
            for row in rows]
    return ["setting", "runs", "median", "95 % of it", "mean", "CV", "min/mean", "max/mean", "CPU time"], body


def pairs(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """How a list of all comparisons begins, and what each is called in it."""
    labels = [(row.setting.label, beside.other.label) for row in rows for beside in row.compared]
    if len(others := {other for _, other in labels}) == 1:
        return f"Compared with '{others.pop()}'", [label for label, _ in labels]
    return "Compared", [f"{label} beside '{other}'" for label, other in labels]


def comparisons(rows: Sequence[Row]) -> tuple[str, list[tuple[str, verdicts.Verdict]], list[str]]:
    """A title, what is declared of each pair, and why so many, or of so few rounds, show nothing."""
    title, labels = pairs(rows)
    judged = [beside.verdict for row in rows for beside in row.compared]
    risk = rows[0].risk
    return f"{title}, at a risk of {percent(risk)} for all comparisons together", list(zip(labels, judged, strict=True)), limits(judged, risk)


def limits(judged: Sequence[verdicts.Verdict], risk: float) -> list[str]:
    """Why so many comparisons, or of so few rounds, show nothing."""
    few = min((verdict.comparison.rounds for verdict in judged), default=0)
    if not judged or verdicts.can_show(few, len(judged), risk):
        return []
    needed = verdicts.rounds_needed(len(judged), risk)
    among = f"among {len(judged)} comparisons" if len(judged) > 1 else "in this comparison"
    return [f"At this risk {few} runs of each setting cannot show that a mean or a median differs {among}: "
            + (f"{needed} can." if needed else "name one setting by --beside, or compare fewer.")]


def compared(rows: Sequence[Row]) -> list[str]:
    title, found, limits = comparisons(rows)
    lines = [line for label, verdict in found for line in (f"{label}: {verdicts.sentence(verdict)}", *(f"    {note}" for note in verdict.notes))]
    return [f"{title}:", *lines, *limits] if lines else []


def programs_table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Tables 1 to 3 of Mazouz, Touati, Barthou, HPCS 2011; without a body where there are not several programs."""
    found = results.overall(rows)
    others = {other for _, other, _ in found}
    body = []
    for setting, other, row in found:
        declared = [f"{count} of {row.programs}" for count in (row.faster, row.slower, row.more_stable, row.less_stable)]
        body.append([setting if len(others) == 1 else f"{setting} beside '{other}'", f"{row.means:.3f}", percent(row.gain_of_means),
                     f"{row.medians:.3f}", percent(row.gain_of_medians), f"[{row.least_variance:.3g}; {row.greatest_variance:.3g}]", *declared])
    what = f"all programs beside '{next(iter(others))}'" if len(others) == 1 else "all programs"
    return [f"{what}: speed-up of", "means", "gain", "medians", "gain", "variances, s²", "faster", "slower", "more stable", "less stable"], body


def series_of(rows: Sequence[Row]) -> list[str]:
    """What is not a distribution's."""
    lines = []
    for row in rows:
        label, order, modes = row.setting.label, row.order, row.modes
        if order.drifts and not order.correlated:
            word = "more" if order.drift.value > 0 else "less"
            lines.append(f"{label}: the last run took {percent(abs(order.drift.value))} {word} than the first.")
        for change in order.changes:
            lines.append(f"{label}: from run {change.at + 1} on, its times are different.")
        if modes.bimodal:
            lines.append(f"{label}: {percent(modes.share)} of the runs form a second mode, {scaled(modes.medians[1])} beside "
                         f"{scaled(modes.medians[0])}.")
    return lines


def why(rows: Sequence[Row]) -> list[str]:
    """Where the spread between runs comes from: of recorded runs, if there are any, what their functions lost is looked at as well."""
    lines = []
    for row in rows:
        recorded = len(row.setting.recorded) >= 3
        explanation, separated = row.setting.explanation(recorded)
        if recorded or explanation.causes or separated:
            lines += [f"{row.setting.label}: {sentence}." for sentence in causes.sentences(explanation, separated)]
    return lines


def regions(study: Study, rows: Sequence[Row]) -> list[str]:
    """In how many of its parallel regions a thread had moved (Mazouz, Touati, Barthou, inria-00514548, section 6). Whole sentences."""
    if not study.head["request"].get("regions"):
        return []
    lines = []
    for row in rows:
        label, runs = row.setting.label, row.setting.lines
        seen = [line for line in runs if line.get("regions") is not None]
        if seen:
            moved, every = (float(numpy.median([line[name] for line in seen])) for name in ("moved_regions", "regions"))
            lines.append(f"{label}: threads moved in {moved:.10g} of {every:.10g} parallel regions (median of its runs).")
        if len(seen) < len(runs):
            which = f" in {len(runs) - len(seen)} of {len(runs)} runs" if seen else ""
            lines.append(f"{label}: no parallel region was seen{which}: the program begins none, or has an OpenMP runtime that cannot be observed, "
                         "such as one that is linked statically.")
    return lines


def placed_memory(rows: Sequence[Row]) -> list[str]:
    """What became of the memory policies of areas. Whole sentences."""
    lines = []
    for row in rows:
        label, runs = row.setting.label, [line for line in row.setting.lines if "memory" in line]
        seen = [line for line in runs if line["memory"] is not None]
        if seen:
            areas, pages, placing = (float(numpy.median([line[name] for line in seen])) for name in ("placed_areas", "placed_pages", "placing_ns"))
            nodes = max(line["memory"]["nodes"] for line in seen)
            elsewhere, alone = (max(line[name] for line in seen) for name in ("pages_elsewhere", "areas_left_alone"))
            looked = ("" if not pages else f"; of {pages:.10g} pages all are where they were planned" if not elsewhere else
                      f"; of {pages:.10g} pages up to {elsewhere} are on other nodes than planned, which had no room or may not be used")
            one = ", the only one, on which all policies are the same" if nodes == 1 else ""
            lines.append(f"{label}: {areas:.10g} areas of memory were placed on {nodes} {'node' if nodes == 1 else 'nodes'}{one}, in "
                         f"{scaled(placing)} (median of its runs){looked}.")
            if reason := next((line["memory"]["reason"] for line in seen if line["memory"]["reason"]), None):
                lines.append(f"{label}: {f'{alone} areas were left alone, the first: ' if alone else 'nothing was placed: '}{reason}.")
            unused = [rule for rule in seen[0]["memory"]["fitting"] if not any(line["memory"]["fitting"].get(rule) for line in seen)]
            lines += [f"{label}: nothing of the program fits the rule '{rule}'." for rule in unused if nodes]
        if len(seen) < len(runs):
            lines.append(f"{label}: no memory was placed in {len(runs) - len(seen)} of {len(runs)} runs: the program is static or setuid, or "
                         "was started without LD_PRELOAD.")
    return lines


def beside_plain(rows: Sequence[Row]) -> list[tuple[Row, verdicts.Verdict]]:
    """Of the settings with enough recorded runs, these beside the plain ones: what recording cost, and whether the program still varies as it did
    (thesis, section 6.1: the same sort of variance means that behaviour is preserved)."""
    enough = [row for row in rows if len(row.setting.recorded) >= 3]
    judged = verdicts.study([(row.setting.runs(), row.setting.when_recorded()) for row in enough], rows[0].risk) if enough else []
    return list(zip(enough, judged, strict=True))


def recordings(rows: Sequence[Row]) -> tuple[tuple[list[str], list[list[str]]], list[str]]:
    """A table and sentences: what the functions lost, and what recording cost."""
    body, lines = [], []
    for row, verdict in beside_plain(rows):
        times = row.setting.program_ns()
        lost = sorted(((numpy.median(values / times), name) for name, values in row.setting.lost().items()), reverse=True)[:MOST_FUNCTIONS]
        body += [[f"{name}: {row.setting.label}", percent(share), str(len(times))] for share, name in lost]
        lines.append(f"{row.setting.label}, recorded beside plain: {verdicts.sentence(verdict)}.")
    return (["lost time of all threads over run time, median", "share", "recorded runs"], body), lines


def metrics(rows: Sequence[Row]) -> tuple[tuple[list[str], list[list[str]]], str, list[str]]:
    """A table, and what is declared of them: a title and sentences. Between runs and inside a run are two things (Cui, Papadopoulou, Pericàs, SC-W
    2023, section 5.1)."""
    title, labels = pairs(rows)
    both = [(row.setting, beside.other) for row in rows for beside in row.compared]
    compared_runs = {}
    for label, (setting, other) in zip(labels, both, strict=True):
        others = {metric.name: metric for metric in other.metrics()}
        for metric in setting.metrics():
            if (one := others.get(metric.name)) is not None and min(metric.medians.min(), one.medians.min()) > 0:
                compared_runs[f"{metric.name}: {label}"] = (verdicts.Runs(one.medians, one.rounds), verdicts.Runs(metric.medians, metric.rounds))
    body = []
    for row in rows:
        for metric in row.setting.metrics():
            summary = series.summarize(metric.medians)
            inside = "-" if numpy.isnan(metric.inside).all() else percent(float(numpy.nanmedian(metric.inside)))
            body.append([f"{metric.name}: {row.setting.label}", f"{summary.median.value:.4g}", percent(summary.variation), inside,
                         f"{summary.least_to_mean:.3f}", f"{summary.greatest_to_mean:.3f}"])
    judged = verdicts.study(list(compared_runs.values()), rows[0].risk) if compared_runs else []
    lines = [f"{label}: {verdicts.sentence(verdict, of_times=False)}" for label, verdict in zip(compared_runs, judged, strict=True)]
    lines += limits(judged, rows[0].risk)
    return ((["metric", "median", "CV between runs", "CV inside a run", "min/mean", "max/mean"], body),
            f"{title}, at a risk of {percent(rows[0].risk)} for all metrics together", lines)


def text(study: Study, rows: Sequence[Row]) -> str:
    lost, recorded = recordings(rows)
    printed, declared, judged = metrics(rows)
    parts = [table(*times_table(rows)), compared(rows), table(*programs_table(rows)), series_of(rows), why(rows), regions(study, rows),
             placed_memory(rows), table(*lost), recorded, table(*printed), [f"{declared}:", *judged] if judged else [], remarks(study)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def remarks(study: Study) -> list[str]:
    """Why the figures may be worth less. Whole sentences."""
    halves = sorted({tuple(line["half"]) for line in study.lines if "half" in line})
    lines = []
    if halves:
        lines.append("The times are those of two simultaneous runs (duets): each setting ran on one half of the processors, "
                     f"{' or '.join(map(placements.ranges, halves))}, as was drawn for each round.")
    lines += list(dict.fromkeys(complaint for state in study.before for complaint in machine.complaints(state)))
    lines += [moved for before, now in itertools.pairwise(study.before) if (moved := machine.moved(before, now))]
    lines += [f"'{later}' is on this machine the same as '{earlier}': it was not run." for later, earlier in study.equal()]
    if any(disturbed := study.disturbed()):
        lines.append(f"Other programs or the host took more than {percent(results.QUIET)} of the processors in {sum(disturbed)} of "
                     f"{len(disturbed)} runs.")
    for name in study.metrics():
        if missing := sum(name not in (line.get("metrics") or {}) for line in study.lines):
            lines.append(f"The metric '{name}' is missing in {missing} of {len(study.lines)} runs: it was not in what they printed.")
    if unjudged := sum(line["output_differs"] is None for line in study.lines):
        lines.append(f"The output of {unjudged} of {len(study.lines)} runs was not judged: --check could not be run.")
    if different := sum(bool(line["output_differs"]) for line in study.lines):
        has_checker = study.head["request"].get("check", "same") != "same"
        lines.append(f"The output of {different} of {len(study.lines)} runs "
                     + ("is wrong, as --check judges it." if has_checker else "differs from that of the first; --check none if it may."))
    lines += [f"'{study.head['labels'][line['setting']]}': {line['pinned']}." for line in study.lines
              if "pinned" in line and not line["pinned"].startswith("all ")]
    return lines


def finite(value):
    """JSON has no NaN, and numpy's numbers are none of its own."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, numpy.ndarray):
        return finite(value.tolist())
    if isinstance(value, numpy.generic):
        return finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(study: Study, rows: Sequence[Row]) -> str:
    def judged(verdict: verdicts.Verdict) -> dict:
        return {**dataclasses.asdict(verdict), "sentence": verdicts.sentence(verdict)}

    recording = {row.setting.label: verdict for row, verdict in beside_plain(rows)}
    settings = []
    for row in rows:
        verdict = recording.get(row.setting.label)
        settings.append({"setting": row.setting.label, "levels": dict(row.setting.levels), "wall_ns": dataclasses.asdict(row.times),
                         "cpu_ns": dataclasses.asdict(row.cpu), "order": dataclasses.asdict(row.order), "modes": dataclasses.asdict(row.modes),
                         "metrics": [dataclasses.asdict(metric) for metric in row.setting.metrics()],
                         "recorded_beside_plain": judged(verdict) if verdict else None,
                         "recorded_wall_ns": dataclasses.asdict(series.summarize(row.setting.when_recorded().times)) if verdict else None,
                         "recorded": [{name: results.value_of(line, name) for name in (*IN_JSON, "program_ns", "functions")}
                                      for line in row.setting.recorded],
                         "runs": [{name: results.value_of(line, name) for name in IN_JSON} for line in row.setting.lines]})
    compared = [{"setting": row.setting.label, "beside": beside.other.label, **judged(beside.verdict)}
                for row in rows for beside in row.compared]
    programs = [{"setting": setting, "beside": other, **dataclasses.asdict(found)} for setting, other, found in results.overall(rows)]
    head = {name: study.head[name] for name in ("command", "seed", "rounds", "equal")}
    head["duet"] = study.head["request"].get("duet", False)
    return json.dumps(finite({"format": "rdam study result 1", **head, "machine": study.states, "settings": settings, "comparisons": compared,
                              "programs": programs, "remarks": remarks(study)}), indent=1) + "\n"


# Of the table of runs, but for the factors and for those of what interrupts, whose names have a space behind the first word.
BEFORE = ("round", "warm_up", "recorded")
VALUES = ("at", *results.MEASURES, "user_ns", "system_ns", "others_s", "stolen_s")  # of every run, as JSON and as columns
BEHIND = ("metric", "value")
IN_JSON = ("round", *VALUES, *results.SOURCES, "half", "memory")  # a half of the processors: of duets; memory: of policies of areas


def is_column(name: str) -> bool:
    """Of the table of runs, whatever the factors are."""
    return name in ("setting", *BEFORE, *VALUES, *BEHIND) or name.partition(" ")[0] in results.SOURCES


def run_columns(study: Study) -> tuple[list[str], list[list]]:
    """A row for each run, warm-ups too, and for each value of each metric in the order in which it was printed: the last two columns."""
    factors = [factor for factor, _ in study.head["levels"][0]]
    sources = [(field, name) for field in results.SOURCES for name in sorted({name for line in study.lines for name in line.get(field) or {}})]
    rows = []
    for line in study.lines:
        own = [study.head["labels"][line["setting"]], *(level for _, level in study.head["levels"][line["setting"]]),
               *(results.value_of(line, name) for name in (*BEFORE, *VALUES)),
               *((line.get(field) or {}).get(name, 0 if line.get(field) is not None else None) for field, name in sources)]
        printed = [(name, value) for name, values in line.get("metrics", {}).items() for value in values]
        rows += [[*own, name, value] for name, value in printed or [(None, None)]]
    return ["setting", *factors, *BEFORE, *VALUES, *(f"{field} {name}" for field, name in sources), *BEHIND], rows


def as_csv(study: Study) -> str:
    head, rows = run_columns(study)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([int(value) if isinstance(value, bool) else value for value in row] for row in rows)
    return out.getvalue()


def write_parquet(study: Study, path: str) -> None:
    """Raises ModuleNotFoundError where pyarrow is missing, Error where the file cannot be written."""
    import pyarrow
    import pyarrow.parquet
    head, rows = run_columns(study)
    try:
        pyarrow.parquet.write_table(pyarrow.table(list(map(list, zip(*rows, strict=True))), names=head), path)
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error}; name another file") from None
