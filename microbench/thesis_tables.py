"""What M. S. Mosli Bouksiaa, *Performance variation considered helpful*, Université Paris-Saclay, 2018, has in tables 5.2, 5.3 and 5.4 and figure
5.5, and our measurements of the same programs beside it, as Markdown."""

import dataclasses
import pathlib
import sys

HIGH = 0.2  # the threshold of figure 5.5
SHOWN_SHARE = 5  # per cent of the samples from which a function of ours is named
NOT_JUDGED = "not judged"
BEGIN, END = "<!-- {name}: written by a command, see there -->", "<!-- end of {name} -->"


@dataclasses.dataclass(frozen=True)
class Application:
    """A row of table 5.3."""

    name: str
    program: str  # of microbench/field; empty: why is `absent`
    functions: str  # with their shares of the time, in per cent
    cost: float  # what instrumenting cost, in per cent
    suite: str
    high: tuple[float, ...] = ()  # of figure 5.5 and section 5.2.5: scores from 0.2
    false: int = 0  # so many of these the thesis found to be false positives (section 5.2.6)
    absent: str = ""
    differs: str = ""  # what of ours is not the thesis's


_PHOENIX, _SPLASH, _PARSEC, _NPB = "Phoenix", "Splash", "PARSEC", "NPB"
APPLICATIONS = (
    Application("histogram", "histogram-pthread", "calc_hist 94", 6.42, _PHOENIX),
    Application("kmeans", "kmeans-pthread", "find_clusters 79, calc_means 21", 10.53, _PHOENIX),
    Application("linear_regression", "linear_regression-pthread", "linear_regression_pthread 99", 8.7, _PHOENIX, (0.37,)),
    Application("matrix_multiply", "matrix_multiply-pthread", "matrixmult_map 99", 0.12, _PHOENIX),
    Application("pca", "pca-pthread", "calc_cov 99", 1.23, _PHOENIX, (0.37,), 1),
    Application("string_match", "string_match-pthread", "string_match_map 88", 2.94, _PHOENIX),
    Application("word_count", "word_count-pthread", "strcmp 44, wordcount_reduce 27, memmove 22", 28.99, _PHOENIX, (0.48,), 1),
    Application("Barnes", "barnes", "hackcofm 65, walksub 12, subdivp 12", 23.18, _SPLASH),
    Application("FMM", "fmm", "VListInteraction 33, DownwardPass 32, UpwardPass 24", 8.47, _SPLASH),
    Application("Ocean, contiguous", "ocean", "pthread_barrier_wait 23, relax 14, slave2 12, lll_lock_wait 12, lll_unlock_wake 11", 5.96,
                _SPLASH),
    Application("Ocean, non-contiguous", "ocean_non", "slave2 21, laplcalc 16, relax 12, pthread_barrier_wait 11", 7.39, _SPLASH),
    Application("Radiosity", "radiosity", "lll_unlock_wake 37, lll_lock_wait 24, _process_task_wait_loop 21", 27.58, _SPLASH, (0.87,)),
    Application("Raytrace, car", "raytrace", "lll_unlock_wake 52, lll_lock_wait 31", 9.05, _SPLASH, (0.82, 0.25),
                differs="teapot: Splash-3 comes without the car"),
    Application("Water-nsquared", "water-nsquared", "_int_malloc 40, INTERF 17, CSHIFT 16", 5.08, _SPLASH),
    Application("swaptions", "swaptions", "HJM_SimPath_Forward… 33", 1, _PARSEC),
    Application("fluidanimate", "fluidanimate", "ComputeForcesMT 48, ComputeDensitiesMT 32", 5.8, _PARSEC),
    Application("facesim", "", "Add_Force_Differential 29, Update_Position_Based… 17", 6.5, _PARSEC,
                absent="PARSEC's sources come without its input"),
    Application("streamcluster", "streamcluster", "pgain's clone 44, parsec_barrier_wait 41", 5, _PARSEC, (0.99,)),
    Application("BT", "bt", "compute_rhs_ 30, x_solve_ 10, y_solve_ 13, z_solve_ 13", 5, _NPB),
    Application("CG", "cg", "conj_grad_ 73", 2, _NPB),
    Application("DC", "dc", "KeyComp 26, MultiWayMerge 24, memcpy 19, write_nocancel 13", 5.74, _NPB, (0.83, 0.33), 1),
    Application("EP", "ep", "__ieee754_log 48, vranlc_ 22", 1, _NPB),
    Application("LU", "lu", "sync_left_ 35, rhs_ 22, sync_right_ 14, jacu_ 6, buts_ 6, ssor_ 5", 0.05, _NPB, (0.25, 0.24, 0.20)),
    Application("SP", "sp", "compute_rhs_ 36, z_solve_ 17, x_solve_ 16, y_solve_ 15", 3, _NPB),
    Application("UA", "ua", "gomp_team_barrier_wait_end 24, gomp_barrier_wait_end 24", 30.86, _NPB, (0.41,)),
    Application("LevelDB", "db_bench", "write 21, pthread_cond_signal 10, pthread_cond_wait 9", 6.9, "LevelDB", (0.66,)),
    Application("memcached", "memcached", "sendmsg 36, epoll_wait 24", 0, "memcached", (0.93,),
                differs="memcslap, over a socket of the machine; see table 5.4"),
)
SUITES = tuple(dict.fromkeys(application.suite for application in APPLICATIONS))
# Of table 5.2, in which we have no part.
NEVER_REPORTED, CORRECTED = 6, 8


@dataclasses.dataclass(frozen=True)
class Link:
    """A row of table 5.4: highest scores, transactions and megabytes a second."""

    name: str
    rate_mbit: int | None  # None: loopback
    client: float
    server: str
    transactions: int
    megabytes: int


LINKS = (Link("100 Mb/s", 100, 0.93, "< 0.1", 36_000, 11), Link("1 Gb/s", 1000, 0.82, "< 0.1", 193_000, 61),
         Link("loopback", None, 0.62, "< 0.1", 2_037_000, 632))


@dataclasses.dataclass(frozen=True)
class Measured:
    """Of one program, here."""

    shares: list[tuple[str, float]]  # of the samples in per cent, the highest first
    plain: float  # seconds
    costs: list[float]  # by round: what recording cost, in per cent
    cpu_costs: list[float]  # the same of the processors' time, which other programs change less
    quiet: bool  # whether other programs left the processors to it: else costs and scores are theirs, too
    functions: list[dict]  # as rdam analyze --json has them


def scored(function: dict) -> bool:
    """Whether a row says that time was lost: it does not wait by design, and its whole interval is above what constant work would score."""
    return not function.get("by_design") and function.get("rdam") is not None and (function.get("rdam_low") or 0) > (function.get("floor") or 0)


def by_score(functions: list[dict]) -> list[dict]:
    return sorted(filter(scored, functions), key=lambda row: -row["rdam"])


def parameter(function: dict) -> str:
    """By which of its parameters the report explains the loss: then the work depends on it, and nothing is lost to others."""
    return next((hint["parameter"] for hint in function.get("hints", []) if hint["kind"] == "parameter"), "")


def markdown(head: list[str], rows: list[list[str]], left: int = 1) -> str:
    """The first `left` columns are text, the others numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *[[cell.replace("|", "\\|") for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _percent(value: float) -> str:
    return f"{value:.0f} %" if abs(value) >= 9.5 else f"{value:.1f} %"


def _cost(costs: list[float]) -> str:
    middle = sorted(costs)[len(costs) // 2]
    return f"{_percent(middle)} ({min(costs):.0f} to {max(costs):.0f})"


def _named(function: dict, most: int = 40) -> str:
    name = function["name"]
    return f"`{name if len(name) <= most else name[:most - 1] + '…'}`"


def _busy(measured: Measured) -> str:
    return "" if measured.quiet else " †"


def _mark(function: dict) -> str:
    """As the report has it: perhaps the recorder's doing; at least so much."""
    return "?" if function.get("maybe_recorder") else "≥" if function.get("lower_bound") else ""


def _of(measured: dict[str, Measured], why: dict[str, str], application: Application) -> Measured | str:
    """What was measured, or why nothing was."""
    if application.absent:
        return application.absent
    return measured.get(application.program) or why.get(application.program, "not among the programs of this run")


def table_5_3(measured: dict[str, Measured], why: dict[str, str]) -> str:
    rows = []
    for application in APPLICATIONS:
        ours = _of(measured, why, application)
        thesis = [application.name, application.functions, f"{application.cost:g} %"]
        if isinstance(ours, str):
            rows.append([*thesis, f"absent: {' '.join(ours.split())[-120:]}", "", "", ""])
            continue
        shown = ", ".join(f"{name} {share:.0f}" for name, share in ours.shares if share >= SHOWN_SHARE) or f"none from {SHOWN_SHARE} % on"
        rows.append([*thesis, f"{shown} ({application.differs})" if application.differs else shown, f"{ours.plain:.2f} s",
                     _cost(ours.costs) + _busy(ours), _cost(ours.cpu_costs)])
    head = ["application", "thesis: functions, % of the time", "cost there", "here: functions, % of the samples", "plain run",
            "cost here, median (least to most)", "in processor time"]
    return markdown(head, rows, left=4)


def figure_5_5(measured: dict[str, Measured], why: dict[str, str]) -> str:
    rows = []
    for application in APPLICATIONS:
        thesis = ", ".join(f"{score:.2f}" for score in application.high) or f"< {HIGH}"
        ours = _of(measured, why, application)
        if isinstance(ours, str):
            rows.append([application.name, thesis, "absent", "", ""])
            continue
        first = next(iter(by_score(ours.functions)), None)
        if first is None:
            rows.append([application.name, thesis, "none above constant work", "", ""])
            continue
        said = f"its work depends on `{parameter(first)}`" if parameter(first) else ""
        bold = "**" if first["rdam"] >= HIGH else ""
        score = f"{bold}{_mark(first)}{first['rdam']:.2f}{bold} ({first['rdam_low']:.2f}–{first['rdam_high']:.2f}){_busy(ours)}"
        rows.append([application.name, thesis, _named(first), said, score])
    return markdown(["application", "thesis: from 0.2 on", "highest here", "the report says", "score (95 %)"], rows, left=4)


def table_5_2(measured: dict[str, Measured]) -> str:
    """The thesis's numbers by suite are counted from its applications with a high score."""
    rows, sums = [], [0] * 8
    for suite in SUITES:
        theirs = [application for application in APPLICATIONS if application.suite == suite]
        ours = [measured[application.program] for application in theirs if application.program in measured]
        high = [[row for row in by_score(each.functions) if row["rdam"] >= HIGH] for each in ours]
        figures = [len(theirs), len(ours), sum(bool(one.high) for one in theirs), sum(map(bool, high)), sum(len(one.high) for one in theirs),
                   sum(map(len, high)), sum(one.false for one in theirs), sum(bool(parameter(row)) for rows_of in high for row in rows_of)]
        sums = [one + other for one, other in zip(sums, figures, strict=True)]
        rows.append([suite, *map(str, figures)])
    rows.append(["all", *map(str, sums)])
    counted = markdown(["suite", "applications", "here", "with a score from 0.2", "here", "functions", "here", "false positives",
                        "here: said to be work by a parameter"], rows)
    true = sum(len(one.high) - one.false for one in APPLICATIONS)
    of = sum(len(one.high) > one.false for one in APPLICATIONS)
    rest = markdown(["", "thesis", "here"], [["true defects", f"{true}, in {of} applications", NOT_JUDGED],
                                             ["of these never reported before", str(NEVER_REPORTED), NOT_JUDGED],
                                             ["corrected", str(CORRECTED), NOT_JUDGED]])
    return f"{counted}\n\n{rest}"


def find(page: pathlib.Path, name: str) -> tuple[str, str]:
    """What the page has before and after the two lines between which the tables of that name belong, with these lines. Ends the program where
    there are none."""
    begin, end = BEGIN.format(name=name), END.format(name=name)
    try:
        before, there, rest = page.read_text().partition(begin)
    except OSError as error:
        sys.exit(f"{page}: {error.strerror}; name a page that is there")
    _, ends, after = rest.partition(end)
    if not there or not ends:
        sys.exit(f"{page}: has not the two lines '{begin}' and '{end}' between which the tables belong; name a page that has, as docs/thesis.md")
    return before + begin, end + after


def put(page: pathlib.Path, name: str, text: str) -> None:
    """Replaces what is between the page's two lines of that name."""
    before, after = find(page, name)
    page.write_text(f"{before}\n\n{text.strip()}\n\n{after}")
