"""What is measured: the sweeps of table 5.1, their controls, and at what settings the cost of recording is taken.

The delays are fixed here: the same in every run, all of them reported. Ranges and operations were chosen by trial, on virtual machines with
two processors; `page.md` says what was found. `--delays` measures any other range.
"""

import dataclasses


def log_spaced(low: float, high: float, count: int) -> tuple[int, ...]:
    """`count` whole nanoseconds from low to high, both included, whose logarithms are equally far apart."""
    return tuple(round(low * (high / low) ** (i / (count - 1))) for i in range(count))


@dataclasses.dataclass(frozen=True)
class Setting:
    """A benchmark as it is started: what is measured once a round."""

    kind: str  # how it is measured: score (recorded and analyzed), cost (timed without and with the recorder), network, or line (of the cache)
    title: str
    benchmark: str
    operation: str  # the function that is recorded
    threads: int
    iterations: int
    quick_iterations: int
    delay_ns: int | None = None  # None: what the program takes
    options: tuple[str, ...] = ()
    control: str = ""  # title of the same without interference
    depends_on: str = ""  # a false positive: nothing is lost, the work depends on this parameter

    @property
    def group(self) -> str:
        """What its rounds are summarized by; also what the progress line says."""
        return f"{self.kind} of {self.title}" if self.kind in ("cost", "network") else self.title


@dataclasses.dataclass(frozen=True)
class Control:
    """A program in which the threads have nothing to do with each other."""

    name: str
    threads: int
    options: tuple[str, ...] = ()
    delayed: bool = True  # whether the delay changes the program; one that it does not change is measured once


@dataclasses.dataclass(frozen=True)
class Sweep:
    name: str
    title: str
    operation: str
    figure: str  # the thesis's number of it
    thesis_rho: float
    delays_ns: tuple[int, ...]
    threads: int
    iterations: int
    quick_iterations: int
    options: tuple[str, ...] = ()
    controls: tuple[Control, ...] = ()
    thesis_threads: int | None = None  # None: as many as the machine has processors, less one

    @property
    def middle(self) -> int:
        """Which of the delays is the middle one."""
        return len(self.delays_ns) // 2

    def _at(self, delay_ns: int, threads: int, options: tuple[str, ...] = (), variant: str = "") -> Setting:
        return Setting("score", f"{self.name} {variant}{delay_ns} ns", self.name, self.operation, threads, self.iterations,
                       self.quick_iterations, delay_ns, self.options + options)

    def points(self) -> list[Setting]:
        return [self._at(delay, self.threads) for delay in self.delays_ns]

    def control_points(self) -> list[tuple[Control, int, Setting]]:
        """Each with the index of its delay: the least, where the operation has the greatest share of a life, and the middle one; this alone if
        the delay does not change it."""
        return [(control, which, self._at(self.delays_ns[which], control.threads, control.options, f"{control.name} "))
                for control in self.controls for which in ((0, self.middle) if control.delayed else (self.middle,))]

    def settings(self) -> list[Setting]:
        return [*self.points(), *(setting for _, _, setting in self.control_points())]

    def with_threads(self, threads: int | None) -> "Sweep":
        """With so many threads, its controls, too, but for those that are one thread alone. As it is where the thesis has a number of its own
        for it (§5.1: two share a cache line), and for None."""
        if threads is None or self.thesis_threads is not None:
            return self
        controls = tuple(dataclasses.replace(control, threads=threads if control.threads > 1 else 1) for control in self.controls)
        return dataclasses.replace(self, threads=threads, controls=controls)


@dataclasses.dataclass(frozen=True)
class Link:
    """A network of table 5.4."""

    name: str
    rate_mbit: int | None  # None: loopback

    def clients(self, count: int) -> Setting:
        """One client alone is the control. An answer takes 2 ms at 1 Gb/s, several times the burst that a link lets pass, and as long as the
        pause."""
        return Setting("network", f"{self.name}, {count} client{'s' if count > 1 else ''}", "network", "send_request", count, 80, 25,
                       options=("--delay", "2ms", "--bytes", "262144"))


SWEEPS = (
    Sweep(
        name="lock", title="POSIX mutex", operation="lock_increment", figure="5.1", thesis_rho=0.97,
        delays_ns=log_spaced(10_000, 100_000, 17), threads=2, iterations=4_000, quick_iterations=1_500,
        options=("--together", "--pin", "--work", "25us"),
        controls=(Control("private locks", 2, ("--private",)), Control("one thread", 1)),
    ),
    Sweep(
        name="spinlock", title="spin lock", operation="spinlock_increment", figure="5.2", thesis_rho=0.95,
        delays_ns=log_spaced(150, 8_000, 16), threads=2, iterations=30_000, quick_iterations=10_000,
        options=("--together", "--pin", "--work", "1us"),
        controls=(Control("private locks", 2, ("--private",)), Control("one thread", 1)),
    ),
    Sweep(
        name="falsesharing", title="false sharing", operation="shared_increment", figure="5.3", thesis_rho=0.95,
        delays_ns=log_spaced(300, 100_000, 12), threads=2, iterations=100_000, quick_iterations=40_000,
        options=("--together", "--pin", "--work", "1us", "--pause", "1us"),
        controls=(Control("counters padded", 2, ("--padded",)), Control("one thread", 1, delayed=False)), thesis_threads=2,
    ),
    Sweep(
        name="io", title="reading with O_DIRECT", operation="read_block", figure="5.4", thesis_rho=0.99,
        delays_ns=log_spaced(100_000, 10_000_000, 11), threads=32, iterations=200, quick_iterations=160,
        controls=(Control("one thread", 1),),
    ),
)

LINKS = (Link("100 Mb/s", 100), Link("1 Gb/s", 1000), Link("loopback", None))

# What the thesis found in real programs (§5.2.5), as programs: at one setting, beside the same without it.
FINDINGS = (
    Setting("score", "barrier, unequal work", "barrier", "wait_for_others", 2, 400, 150, 1_000_000, ("--pin",), control="barrier, equal work"),
    Setting("score", "barrier, equal work", "barrier", "wait_for_others", 2, 400, 150, 1_000_000, ("--pin", "--equal")),
    Setting("score", "condvar, two writers", "condvar", "queue_write", 2, 5_000, 2_000, 5_000, ("--pin",), control="condvar, one writer"),
    Setting("score", "condvar, one writer", "condvar", "queue_write", 1, 5_000, 2_000, 5_000, ("--pin",)),
    Setting("score", "membw, a neighbour", "membw", "stream_block", 1, 20_000, 8_000, 0, ("--pin",), control="membw, no neighbour"),
    Setting("score", "membw, no neighbour", "membw", "stream_block", 1, 20_000, 8_000, 0, ("--pin", "--neighbours", "0")),
    Setting("score", "falsepositive, search of a list", "falsepositive", "search_list", 1, 20_000, 8_000, 1_000, ("--kind", "list"),
            depends_on="key"),
    Setting("score", "falsepositive, triangular loop", "falsepositive", "triangle_row", 1, 20_000, 8_000, 1_000, ("--kind", "triangle"),
            depends_on="row"),
)

# What nobody can set and much depends on: how long a processor takes to get a cache line that the other has written to. Two threads that
# are too far apart to meet increment one counter in turns, once a round. They are not recorded.
CACHE_LINE = Setting("line", "cache line", "spinlock", "spinlock_increment", 2, 10_000, 10_000, 2_000, ("--pin", "--updates", "1", "--self-timed"))

LONGEST_COST_NS = 1_500_000_000  # of a thread's delays together


def _ends(sweep: Sweep) -> list[Setting]:
    """The recorder's share is greatest where the delay is least. Threads that end with the first one make more calls or fewer from run to run,
    so here each makes all of its own: with the recorder and without it the work is the same."""
    found = []
    for label, delay_ns in (("least delay", sweep.delays_ns[0]), ("greatest delay", sweep.delays_ns[-1])):
        most = LONGEST_COST_NS // delay_ns
        found.append(Setting("cost", f"{sweep.name}, {label}", sweep.name, sweep.operation, sweep.threads, min(sweep.iterations, most),
                             min(sweep.quick_iterations, most // 3), delay_ns, tuple(word for word in sweep.options if word != "--together")))
    return found


COSTS = (*(cost for sweep in SWEEPS for cost in _ends(sweep)),
         *(dataclasses.replace(one, kind="cost") for one in FINDINGS if one.control or one.depends_on),
         Setting("cost", "network, loopback", "network", "send_request", 2, 2_000, 500, 100_000, ("--bytes", "16384")))

NAMES = (*(sweep.name for sweep in SWEEPS), *dict.fromkeys(finding.benchmark for finding in FINDINGS), "network")
