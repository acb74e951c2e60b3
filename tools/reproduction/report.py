"""What is told of a run, once: paragraphs and tables, which are printed on the terminal and, with pictures and explanations, make the page.
What a person has written between the page's markers stays."""

import dataclasses
import math
import pathlib
import re
import textwrap

from rdam.study import present

from . import WORDS, Trouble, compared, figures, session
from .benchmarks import NAMES
from .plan import Extent
from .programs import Programs
from .results import (HIGHEST_CONTROL, LEAST_FINDING, LEAST_SPAN, MOST_VARIATION, ControlResult, CostResult, FindingResult, LinkResult, Measured,
                      Results, SweepResult, number)
from .sequences import Sequences
from .units import counted, duration

BEGIN, END = "<!-- by hand: a new run leaves what is between here -->", "<!-- and here -->"
WIDTH = 140
NOTHING_YET = "Nobody has written anything here about this machine yet."


@dataclasses.dataclass(frozen=True)
class Table:
    head: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        lines = [self.head, ["---", *["---:"] * (len(self.head) - 1)], *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

    def plain(self) -> str:
        """Columns of equal width, the first one to the left."""
        return "\n".join(f"  {line}" for line in present.table(self.head, self.rows))


class Aside(str):
    """What the page alone has: an explanation, or a picture."""


Part = str | Table  # a paragraph, a list or a heading in Markdown, or a table


@dataclasses.dataclass(frozen=True)
class About:
    """What is told of the run besides its figures."""

    machine: dict
    uncontrolled: list[str]
    parts: list[dict]  # as session.parts_of() tells them
    version: str
    programs: str  # their identity
    extent: Extent
    runs: list[compared.Column] = dataclasses.field(default_factory=list)  # earlier ones and, last, this one; empty where none is set beside it


def extremes(scores: list[float]) -> str:
    return f"{min(scores):.3f}–{max(scores):.3f}"


def times(measured: Measured) -> list[str]:
    return [duration(measured.median("mean_ns")), duration(measured.median("min_ns"))]


def verdict(result: SweepResult) -> str:
    if not result.is_measurable:
        return f"not measurable here: the mean varies {result.span:.2f}× over the sweep, less than {LEAST_SPAN:.0f}×"
    return "at least the thesis's" if result.reaches_thesis(result.rho) else "below the thesis's"


def of_rounds(result: SweepResult) -> str:
    rhos = [rho for rho in result.rho_of_rounds if rho is not None]
    return f"{min(rhos):.3f} to {max(rhos):.3f}; {result.good_rounds} of {result.rounds} reach the thesis's" if rhos else "—"


def of_minimum(result: SweepResult) -> str:
    bound = "constant (below" if result.minimum_variation < MOST_VARIATION else "NOT constant (not below"
    return f"{result.minimum_variation * 100:.1f} %, {bound} {MOST_VARIATION * 100:.0f} %)"


def overview(results: list[SweepResult]) -> Table:
    return Table(["benchmark", "delays", "ρ, thesis", "ρ, here", "ρ of single rounds", "mean varies", "minimum varies (c. v.)", "verdict"],
                 [[one.sweep.name, str(len(one.points)), str(one.sweep.thesis_rho), number(one.rho), of_rounds(one), f"{one.span:.1f}×",
                   of_minimum(one), verdict(one)] for one in results])


def control_delay(result: ControlResult) -> str:
    return duration(result.setting.delay_ns) if result.control.delayed else "any"


def controls_in_short(results: list[SweepResult]) -> str:
    """How many of all controls are as low as a control should be, at whatever delay, and which are not."""
    every = [(f"{result.sweep.name}, {one.control.name}, {control_delay(one)} ({one.score:.3f})", one.is_low)
             for result in results for one in result.controls]
    high = [name for name, is_low in every if not is_low]
    return (f"Of {counted(len(every), 'control')}, at all delays, {len(every) - len(high)} are below {HIGHEST_CONTROL} and {len(high)} are not"
            f"{': ' if high else ''}{'; '.join(high)}.")


def controls(results: list[SweepResult]) -> Table:
    return Table(["control", "delay", "score with interference", "score", "mean", "minimum", f"below {HIGHEST_CONTROL}"],
                 [[f"{result.sweep.name}, {one.control.name}", control_delay(one), f"{one.disturbed.score:.3f}", f"{one.score:.3f}", *times(one),
                   "yes" if one.is_low else "NO"] for result in results for one in result.controls])


def _sweep(result: SweepResult, folder: str) -> list[Part]:
    sweep = result.sweep
    workload = (f"{sweep.threads} threads, {result.iterations:,} calls each, {len(sweep.delays_ns)} delays, "
                f"medians of {counted(result.rounds, 'round')}.")
    lost = [f"{result.lost_calls} calls are not part of any score: dropped, or not seen to end."] if result.lost_calls else []
    return [f"### {sweep.title[0].upper()}{sweep.title[1:]} (`{sweep.name}`, figure {sweep.figure})", f"{workload} {WORDS[sweep.name]}",
            Aside(f"![{figures.caption_of(result)}]({folder}/{sweep.name}.svg)"),
            Table(["delay", "mean", "minimum", "score", "of the rounds"],
                  [[duration(point.setting.delay_ns), *times(point), f"{point.score:.3f}", extremes(point.of_rounds("rdam"))]
                   for point in result.points]), *lost]


def _sweeps(results: list[SweepResult], folder: str, extent: Extent) -> list[Part]:
    return ["## Score against completion time (table 5.1)",
            Aside(WORDS["table 5.1"]),
            *([WORDS["quick"]] if extent.quick else []), overview(results), controls_in_short(results),
            Aside(WORDS["controls"]),
            controls(results),
            *(part for result in results for part in _sweep(result, folder))]


def finding_verdict(result: FindingResult) -> str:
    if result.setting.depends_on:
        rounds = f"in {len(result.flagged)} of {counted(len(result.rounds), 'round')}"
        return f"flagged as a false positive {rounds}" if result.is_flagged else f"NOT flagged as a false positive, but {rounds}"
    if result.control is None:
        return "control" if result.is_low else f"control, not below {HIGHEST_CONTROL}"
    if result.times_the_control is None:
        return "—"
    words = f"{result.times_the_control:.1f} times the control's"
    return words if result.times_the_control >= LEAST_FINDING else f"not measurable here: {words}"


def _findings(results: list[FindingResult]) -> list[Part]:
    rows = []
    for one in results:
        hints = ", ".join(f"{kind or 'none'}{parameter and f' ({parameter})'} {count}×" for kind, parameter, count in one.hints)
        rows.append([one.setting.title, f"{one.score:.3f}", *times(one), hints, number(one.left), finding_verdict(one)])
    return ["## Findings on real programs (§5.2.5)",
            Aside(WORDS["findings"]),
            Table(["benchmark", "score", "mean", "minimum", "first hint of the rounds", "with the parameter as key", "verdict"], rows)]


def _links(results: list[LinkResult], folder: str) -> list[Part]:
    side = ["of the rounds", "mean", "minimum"]
    head = ["network", "client's score", *side, "server's score", *side]
    rows = [[one.setting.title, *(["not measured", *[""] * (len(head) - 2)] if result.obstacle else
                                  [cell for role in ("client", "server") for of in [one.of(role)]
                                   for cell in (f"{of.score:.3f}", extremes(of.of_rounds("rdam")), *times(of))])]
            for result in results for one in result.measured]
    return ["## Networks (table 5.4)",
            Aside(WORDS["networks"]),
            Table(head, rows), *(f"{one.link.name}: not measured: {one.obstacle}" for one in results if one.obstacle),
            *([] if all(one.obstacle for one in results) else [Aside(f"![Scores of clients and server]({folder}/network.svg)")])]


def _costs(results: list[CostResult]) -> list[Part]:
    rows = [[one.setting.title, *(duration(one.median(figure) * 1e9) for figure in ("plain_s", "recorded_s")), f"{one.ratio.value:.3f}",
             "—" if math.isnan(one.ratio.low) else f"{one.ratio.low:.3f}–{one.ratio.high:.3f}", str(len(one.rounds))] for one in results]
    return ["## Cost of recording (table 5.3)",
            Aside(WORDS["costs"]),
            Table(["benchmark", "without", "with rdam", "ratio", "95 % interval", "pairs"], rows)]


def sources(parts: list[dict]) -> str:
    """What the tree of this command was at: nothing tells what the programs were built from."""
    found = []
    for revision in dict.fromkeys(filter(None, (part["revision"] for part in parts))):
        clean = revision.removesuffix("-dirty")
        found.append(f"{clean}, {'without' if clean == revision else 'with'} uncommitted changes")
    if not found:
        return "The revision of the sources is not known."
    return f"The sources beside them were at revision {'; then '.join(found)}; whether the programs were built from these is not known."


def _run(about: About) -> str:
    this, extent = about.machine, about.extent
    options = {"--quick": extent.quick, f"--only {','.join(extent.only)}": len(extent.only) < len(NAMES), f"--rounds {extent.rounds}": extent.rounds,
               f"--iterations {extent.iterations}": extent.iterations, f"--path {extent.io_path}": extent.io_path,
               f"--threads {extent.threads}": extent.threads, **{f"--delays {name}": name for name in extent.other_delays()}}
    command = " ".join(["tools/reproduce", *(words for words, given in options.items() if given)])
    return (f"Measured {session.when(about.parts)} with `{command}`, on {this['processor']}, {this['processors']} processors, "
            f"{this['memory_gib']} GiB of memory, {this['system']}, {this['kernel']}. Of {about.version}, the programs "
            f"`{about.programs}` (the first digits of the SHA-256 of {', '.join(Programs.NAMES)}). {sources(about.parts)}")


def compose(results: Results, has_sequences: bool, about: About, folder: str) -> list[Part]:
    """`folder`: where the drawings are, as seen from the page."""
    parts = [Aside("# The thesis's evaluation, measured here"),
             Aside(WORDS["page"]),
             _run(about), "What could not be controlled:", "\n".join(f"- {sentence}" for sentence in about.uncontrolled)]
    if has_sequences:
        parts += [Aside("## What a score is made of"), Aside(f"![A thread's calls, and what each lost against the fastest]({folder}/sequences.svg)")]
    if results.sweeps:
        parts += _sweeps(results.sweeps, folder, about.extent)
    if results.findings:
        parts += _findings(results.findings)
    if results.links:
        parts += _links(results.links, folder)
    if results.costs:
        parts += _costs(results.costs)
    if about.runs:
        parts += ["## Several runs",
                  Aside(WORDS["several runs"]),
                  Table(*compared.table(about.runs))]
    return parts


def _wrapped(part: str) -> str:
    """Text and lists in lines of at most WIDTH characters, commands unbroken; headings, pictures and comments as they are."""
    if part.startswith(("#", "!", "<")):
        return part
    unbroken = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), part)
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  " if line.startswith("- ") else "", break_long_words=False,
                                   break_on_hyphens=False) for line in unbroken.split("\n")).replace("\0", " ")


def markdown(parts: list[Part]) -> str:
    return "\n\n".join(part.markdown() if isinstance(part, Table) else _wrapped(part) for part in parts)


def plain(parts: list[Part]) -> str:
    return "\n\n".join(part.plain() if isinstance(part, Table) else _wrapped(part).lstrip("# ").replace("`", "") for part in parts
                       if not isinstance(part, Aside))


def by_hand(page: pathlib.Path) -> str:
    """What is between the markers of the page that is there. Trouble for a file that has none: it is not such a page."""
    if not page.exists():
        return NOTHING_YET
    _, begin, rest = page.read_text(errors="replace").partition(BEGIN)
    kept, end, _ = rest.partition(END)
    if not begin or not end:
        raise Trouble(f"{page}: is there, and has not the two lines between which text stays ('{BEGIN}', '{END}'); name another file")
    return kept.strip()


def write(page: pathlib.Path, results: Results, drawn: Sequences | None, about: About) -> str:
    """The page, and beside it the folder of its drawings, which has the page's name. Returns what is printed on the terminal."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    figures.draw(results, drawn, folder)
    parts = compose(results, drawn is not None, about, folder.name)
    page.write_text("\n\n".join([markdown(parts), "## What differs, and why", BEGIN, by_hand(page), END]) + "\n")
    return plain(parts)
