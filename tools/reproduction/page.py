"""The results page: thesis and measurement side by side. What a person has written between the markers stays."""

import dataclasses
import pathlib
import re
import textwrap

from . import figures, periods, plan, sequences, several, text
from .benchmarks import NAMES
from .programs import Programs
from .summary import CostResult, FindingResult, LinkResult, Results, SweepResult, number
from .trouble import Trouble

FEW_ROUNDS = "With `--quick` there are so few rounds and calls that a ρ may miss the thesis's by chance; a run without it decides."
BEGIN, END = "<!-- by hand: a new run leaves what is between here -->", "<!-- and here -->"
WIDTH = 140
NOTHING_YET = "Nobody has written anything here about this machine yet."


@dataclasses.dataclass(frozen=True)
class About:
    """What the page says of the run besides its figures."""

    machine: dict
    uncontrolled: list[str]
    sessions: list[dict]
    version: str
    programs: str  # their identity
    extent: plan.Extent
    runs: list[several.Column] = dataclasses.field(default_factory=list)  # earlier ones and, last, this one; empty where none is set beside it


def real_trace(programs: Programs, extent: plan.Extent, folder: pathlib.Path) -> sequences.Sequences | None:
    """For figure 4.1: a delay of the first sweep there is at which some calls meet others, and some none."""
    sweeps = extent.chosen_sweeps()
    if not sweeps:
        return None
    of_sweep = plan.points(sweeps[0], extent)
    return sequences.record(programs, of_sweep[len(of_sweep) // 4][1], folder)


def by_hand(page: pathlib.Path) -> str:
    """What is between the markers of the page that is there. Trouble for a file that has none: it is not such a page."""
    if not page.exists():
        return NOTHING_YET
    _, begin, rest = page.read_text(errors="replace").partition(BEGIN)
    kept, end, _ = rest.partition(END)
    if not begin or not end:
        raise Trouble(f"{page}: is there, and has not the two lines between which text stays ('{BEGIN}', '{END}'); name another file")
    return kept.strip()


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _overview(results: list[SweepResult]) -> str:
    rows = [[result.sweep.name, str(len(result.points)), str(result.sweep.thesis_rho), number(result.rho), text.of_rounds(result),
             f"{number(result.span, '.1f')}×", text.of_minimum(result), text.verdict(result)] for result in results]
    return table(["benchmark", "delays", "ρ, thesis", "ρ, here", "ρ of single rounds", "mean varies", "minimum varies (c. v.)", "verdict"], rows)


def _controls(results: list[SweepResult]) -> str:
    rows = [[f"{result.sweep.name}, {one.control.name}", text.control_delay(one), f"{one.disturbed.median('rdam'):.3f}",
             f"{one.scored.median('rdam'):.3f}", text.duration(one.scored.median("mean_ns")), text.duration(one.scored.median("min_ns")),
             text.control_verdict(one)]
            for result in results for one in result.controls]
    return table(["control", "delay", "score with interference", "score", "mean", "minimum", "below 0.05"], rows)


def _sweep(result: SweepResult, folder: str) -> list[str]:
    sweep = result.sweep
    rounds = text.counted(len(result.points[0].rounds), "round")
    lost = [f"{result.lost_calls} calls are not part of any score: dropped, or not seen to end."] if result.lost_calls else []
    return [f"### {sweep.title[0].upper()}{sweep.title[1:]} (`{sweep.name}`, figure {sweep.figure})",
            f"{text.workload(sweep, result.points[0].settings)}, medians of {rounds}. {sweep.why}".strip(),
            f"![{figures.caption_of(result)}]({folder}/{sweep.name}.svg)", table(text.POINT_HEAD, text.point_rows(result)), *lost]


def sources(parts: list[dict]) -> str:
    """What the tree of this command was at: nothing tells what the programs were built from."""
    told = []
    for revision in dict.fromkeys(filter(None, (part["revision"] for part in parts))):
        clean = revision.removesuffix("-dirty")
        told.append(f"{clean}, {'without' if clean == revision else 'with'} uncommitted changes")
    if not told:
        return "The revision of the sources is not known."
    return f"The sources beside them were at revision {'; then '.join(told)}; whether the programs were built from these is not known."


def _run(about: About) -> str:
    this, extent = about.machine, about.extent
    words = [name for name, said in (("--quick", extent.quick), (f"--only {','.join(extent.only)}", len(extent.only) < len(NAMES)),
                                     (f"--rounds {extent.rounds}", extent.rounds), (f"--iterations {extent.iterations}", extent.iterations),
                                     (f"--path {extent.io_path}", extent.io_path), (f"--threads {extent.threads}", extent.threads),
                                     *((f"--delays {name}", name) for name in extent.other_delays())) if said]
    memory = f", {this['memory_gib']} GiB of memory" if this["memory_gib"] else ""
    return (f"Measured {periods.spoken(about.sessions)} with `{' '.join(['tools/reproduce', *words])}`, on {this['processor']}, "
            f"{this['processors']} processors{memory}, {this['system']}, {this['kernel']}. Of {about.version}, the programs "
            f"`{about.programs}` (the first digits of the SHA-256 of {', '.join(Programs.NAMES)}). {sources(about.sessions)}")


def _sweeps(results: list[SweepResult], folder: str, quick: bool) -> list[str]:
    return ["## Score against completion time (table 5.1)",
            "The delay between two operations is swept over fixed, log-spaced points; every one of them is below. ρ is Pearson's "
            "correlation between the mean completion time and the score. The thesis claims that ρ is high while the minimum, the "
            "baseline of the score, stays constant.",
            *([FEW_ROUNDS] if quick else []), _overview(results), text.controls_in_short(results),
            "Controls are the same programs without interference: at the shortest delay, where a thread spends most of its life in the "
            "operation, and at the middle one, where `--check` requires a score below 0.05. A control without a delay (any) is measured once.",
            _controls(results),
            *(part for result in results for part in _sweep(result, folder))]


def _findings(results: list[FindingResult]) -> list[str]:
    return ["## Findings on real programs (§5.2.5)",
            "Programs that reproduce what the thesis found in applications, each with a control that lacks it. If the score is less than "
            "twice the control's, the interference cannot be distinguished from the machine's own noise. The last two lose nothing: their "
            "work depends on a parameter. The table shows rdam's first hint about the loss, and the score that remains if calls are "
            "compared only with those of the same value:",
            table(text.FINDING_HEAD, text.finding_rows(results))]


def _links(results: list[LinkResult], folder: str) -> list[str]:
    drawing = [f"![Scores of clients and server]({folder}/network.svg)"] if any(not result.obstacle for result in results) else []
    return ["## Networks (table 5.4)",
            "Two clients and their server communicate over TCP: between two network namespaces, with the link's rate limited by `tc`, and over "
            "loopback. The control is one client alone. In the thesis the client's score falls as the network gets faster, and the server's stays "
            "low. `--check` requires this and, if the rate is limited, a score of two clients at least twice that of one.",
            table(text.LINK_HEAD, text.link_rows(results)), *text.link_notes(results), *drawing]


def _costs(results: list[CostResult]) -> list[str]:
    return ["## Cost of recording (table 5.3)",
            "Seconds from the common start of the threads to the end of the last one, without and with `rdam record`, in consecutive "
            "runs in alternating order. Both make the same calls: no thread ends with the first one. The ratio is the median of the "
            "pairs' ratios; its interval is from order statistics (at least 95 %; none for fewer than six pairs). The cost of starting is "
            "not included (`docs/costs.md`, *The start*). These programs only call the recorded function, far more often than programs that "
            "people would record. The thesis's programs are whole applications: below 10 % for 22 of 27, below 31 % for all.",
            table(text.COST_HEAD, text.cost_rows(results))]


def _runs(runs: list[several.Column]) -> list[str]:
    return ["## Several runs",
            "Each column is a run with the same settings: the earlier ones, and this one, which the rest of this page is about. "
            f"{several.NOT_THERE}: a run did not measure that with these settings.",
            table(*several.table(runs))]


def wrapped(part: str) -> str:
    """Text and lists in lines of at most WIDTH characters, commands unbroken; tables, headings and the like as they are."""
    if part.startswith(("|", "#", "!", "<", "```")):
        return part
    unbroken = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), part)
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  " if line.startswith("- ") else "", break_long_words=False,
                                   break_on_hyphens=False) for line in unbroken.split("\n")).replace("\0", " ")


def compose(results: Results, drawn: bool, about: About, kept: str, folder: str) -> str:
    """The page as Markdown. `folder`: where the drawings are, as seen from the page."""
    parts = ["# The thesis's evaluation, measured here",
             "Written by `tools/reproduce` (see its `--help`); only *What differs, and why* is written by hand. The metric and the reference are "
             "from M. S. Mosli Bouksiaa, *Performance variation considered helpful*, PhD thesis, Université Paris-Saclay, 2018, chapter 5.",
             _run(about),
             "What could not be controlled:", "\n".join(f"- {sentence}" for sentence in about.uncontrolled)]
    if drawn:
        parts += ["## What a score is made of", f"![A thread's calls, and what each lost against the fastest]({folder}/sequences.svg)"]
    if results.sweeps:
        parts += _sweeps(results.sweeps, folder, about.extent.quick)
    if results.findings:
        parts += _findings(results.findings)
    if results.links:
        parts += _links(results.links, folder)
    if results.costs:
        parts += _costs(results.costs)
    if about.runs:
        parts += _runs(about.runs)
    parts = [wrapped(part) for part in parts] + ["## What differs, and why", BEGIN, kept, END]
    return "\n\n".join(parts) + "\n"


def write(page: pathlib.Path, results: Results, drawn: sequences.Sequences | None, about: About) -> None:
    """The page, and beside it the folder of its drawings, which has the page's name."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for result in results.sweeps:
        figures.draw_sweep(result, folder / f"{result.sweep.name}.svg")
    if any(not result.obstacle for result in results.links):
        figures.draw_links(results.links, folder / "network.svg")
    if drawn is not None:
        figures.draw_sequences(drawn, folder / "sequences.svg")
    page.write_text(compose(results, drawn is not None, about, by_hand(page), folder.name))
