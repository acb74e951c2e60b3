#!/usr/bin/python3
"""Children of every kind: none writes into its parent's trace, and they are followed or not, as the user chose."""

import unittest

from harness import PROGRAMS, Case

CHILDREN = PROGRAMS / "children"
ROUNDS = 10
# Among them what libc's own children call before they turn into another program.
FUNCTIONS = "work,dup,close,dup2,execve,open,setpgid,sigaction,sigprocmask"
# What the program itself calls in its rounds.
OWN = {"work": 5 * ROUNDS, "dup": ROUNDS, "close": ROUNDS}
OF_CHILDREN_ONLY = {"dup2", "execve", "setpgid", "open"}


class Processes(Case):
    """Of which process each trace is."""

    def by_program(self) -> dict[str, list[dict[str, int]]]:
        found: dict[str, list[dict[str, int]]] = {}
        for name in self.traces():
            report = self.analyze(name)
            program = report["trace"]["arguments"][0].rpartition("/")[2]
            found.setdefault(program, []).append({f["name"]: f["occurrences"] for f in report["functions"]})
        return found

    def run_kind(self, kind: str, *options, functions=FUNCTIONS, rounds=ROUNDS, arguments=()):
        command = (CHILDREN, kind, str(rounds), *arguments)
        plain = self.run_in_folder(*command)
        self.assertEqual(plain.returncode, 6, plain.stdout)
        done = self.succeeded(self.rdam("record", *options, "-f", functions, "--", *command), 6)
        return plain, done


class SharedMemory(Processes):
    """Children on their parent's memory record nothing; the parent's own calls are all counted."""

    def check(self, kind: str, children=()):
        plain, done = self.run_kind(kind)
        self.assertEqual(done.stdout, plain.stdout)
        own = self.counts()
        self.assertEqual({name: own[name] for name in OWN}, OWN, own)
        self.assertEqual(OF_CHILDREN_ONLY & set(own), set())
        recorded = [counts["work"] for counts in self.by_program()["children"]]
        self.assertEqual(sorted(recorded), sorted([5 * ROUNDS, *children]))

    def test_posix_spawn(self):
        self.check("spawn")

    def test_posix_spawnp(self):
        self.check("spawnp")

    def test_system(self):
        self.check("system")

    def test_popen(self):
        self.check("popen")

    def test_clone_like_vfork(self):
        self.check("clone_vfork")

    def test_clone_and_clone3_by_syscall(self):
        self.check("kernel_vm")

    def test_children_of_such_children(self):
        self.check("nested")

    def test_fork_in_such_a_child(self):
        self.check("forks_inside", children=[7] * ROUNDS)

    def test_handlers_around_vfork(self):
        rounds = 300
        done = self.succeeded(self.rdam("record", "-f", "work", "--", CHILDREN, "alarm", str(rounds)), 6)
        statuses, handled = (int(word) for word in done.stdout.split())
        self.assertEqual(statuses, 4 * rounds)
        self.assertGreater(handled, 0)
        self.assertEqual(self.counts(), {"work": 5 * rounds + handled})

    def test_child_that_shares_the_thread_for_good(self):
        # Two tasks on one thread's data: what they call cannot be told apart, so it is left out, and that is said.
        plain, done = self.run_kind("clone_vm")
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(done.stderr.decode().count("shares its thread-local storage"), 1, done.stderr.decode())
        self.assertEqual(self.counts(), {"work": 5, "dup": 1, "close": 1})
        # Behind the first child: its own 7 calls, and 9 rounds of 5 + 2 + 7.
        self.assertIn(f"{7 + 7 * (ROUNDS - 1) + 7 * (ROUNDS - 1)} events", self.rdam("analyze").stdout.decode())


class OwnMemory(Processes):
    def check(self, kind: str, made: int):
        plain, done = self.run_kind(kind)
        self.assertEqual(done.stdout, plain.stdout)
        own = self.counts()
        self.assertEqual(own, OWN)
        recorded = [counts["work"] for counts in self.by_program()["children"]]
        self.assertEqual(sorted(recorded), sorted([5 * ROUNDS] + [7] * made))

    def test_fork(self):
        self.check("fork", ROUNDS)

    def test_clone(self):
        self.check("clone", ROUNDS)

    def test_clone_and_clone3_by_syscall(self):
        self.check("kernel", 2 * ROUNDS)

    def test_library_loaded_before_the_first_event(self):
        plugin = PROGRAMS / "libplugin.so"
        self.run_kind("loads", functions="work,libplugin.so:plugin_work", rounds=3, arguments=(plugin,))
        self.assertEqual(self.counts(), {"work": 15})
        children = [counts for counts in self.by_program()["children"] if counts != {"work": 15}]
        # The constructor calls once.
        self.assertEqual(children, [{"work": 7, "plugin_work": 12}] * 3)


class Threads(Processes):
    """A fork child in which not the forked thread, or several at once, make the first call."""

    CALLS = 5000

    def check(self, kind: str, *calls: int):
        for way in ("fork", "_Fork", "clone") * 4:
            done = self.rdam("record", "-f", "work", "--", PROGRAMS / "fork_threads", kind, str(self.CALLS), way)
            self.assertEqual((done.returncode, done.stdout), (0, b"0\n"), done.stderr.decode())
            child, = set(self.traces()) - {"trace.bin"}
            report = self.analyze(child)
            self.assertEqual(sorted(thread["events"] for thread in report["threads"]), [2 * n for n in calls])
            self.assertEqual(self.counts(), {"work": self.CALLS})
            for name in ("trace.bin", child):
                self.assertFalse([note for note in self.analyze(name)["trace"]["notes"] if "never written" in note])
                (self.folder / name).unlink()

    def test_another_thread_first(self):
        self.check("second", self.CALLS, self.CALLS)

    def test_another_thread_alone(self):
        self.check("only", self.CALLS)

    def test_all_at_once(self):
        self.check("race", *[self.CALLS] * 4)


class Programs(Processes):
    """Programs that start others in ways of their own."""

    def check(self, *command):
        plain = self.succeeded(self.run_in_folder(*command))
        done = self.rdam("record", "-f", "dup2,execve,execv,setsid,chdir,read,write,close,fork,vfork", "--", *command)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        counts = self.counts()
        self.assertEqual(set(counts) & {"dup2", "execve", "execv", "setsid", "chdir"}, set())
        self.assertGreater(counts.get("read", 0) + counts.get("close", 0), 0)

    def test_python(self):
        # By vfork, with work of its own before the exec, and by posix_spawn.
        script = ("import os, subprocess\n"
                  "for _ in range(5):\n"
                  "    print(subprocess.run(['sh', '-c', 'pwd; exit 3'], cwd='/', stdout=subprocess.PIPE, start_new_session=True).stdout)\n"
                  "    print(os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 1, 9)]), 0)[1])\n")
        self.check("/usr/bin/python3", "-c", script)

    def test_gcc(self):
        self.need("gcc")
        (self.folder / "one.c").write_text("int main(void) { return 0; }\n")
        self.check("gcc", "-o", "one", "one.c")


class Followed(Processes):
    """--no-children, RDAM_CHILDREN=0."""

    COUNTS = f"{PROGRAMS}/counts"

    def test_fork_children(self):
        for kind in ("fork", "clone", "kernel", "forks_inside"):
            with self.subTest(kind):
                plain, done = self.run_kind(kind, "--no-children")
                self.assertEqual(done.stdout, plain.stdout)
                self.assertEqual(self.traces(), ["trace.bin"])
                self.assertEqual(self.counts(), OWN)

    def test_what_children_execute(self):
        for children, traces in ((True, 1 + 3), (False, 1)):
            with self.subTest(children=children):
                options = () if children else ("--no-children",)
                _, done = self.run_kind("fork_exec", *options, functions="work", rounds=3, arguments=(f"{self.COUNTS} 1 100; exit 3",))
                self.assertEqual(done.stdout.count(b"\n"), 4, done.stdout)
                self.assertEqual(len(self.traces()), traces, self.traces())
                self.assertEqual(self.counts(), {"work": 15})
                self.forget()

    def test_what_the_program_turns_into(self):
        # 10 calls, a fork child with 20 that turns into a program with 30.
        done = self.preload("work", PROGRAMS / "forks", RDAM_CHILDREN="0")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.count(b"\n"), 3)
        self.assertEqual(self.traces(), ["trace.bin"])
        self.assertEqual(self.counts(), {"work": 10})

    def test_launchers_are_not_the_program(self):
        # `read` and `waitpid` are the shell's, too.
        for command in (f"exec {self.COUNTS} 1 100", f"{self.COUNTS} 1 100; exit 3", f"env sh -c '{self.COUNTS} 1 100; exit 3'; exit 3"):
            with self.subTest(command):
                self.succeeded(self.rdam("record", "--no-children", "-f", "work,read,waitpid,write,sigaction", "--", "sh", "-c", command), 3)
                self.assertEqual(self.traces(), ["trace.bin"])
                self.assertEqual(self.counts()["work"], 100)

    def test_two_programs_of_a_shell(self):
        self.succeeded(self.rdam("record", "--no-children", "-f", "work", "--", "sh", "-c", f"{self.COUNTS} 1 100; {self.COUNTS} 1 200; exit 9"), 9)
        self.assertEqual(sorted(self.counts(name)["work"] for name in self.traces()), [100, 200])

    # One measurement, in ticks, becomes nanoseconds by the rate that each process finds, to some parts in a million.
    # Two measurements differ by a 16th of a tick or more.
    ROUNDED = 0.005

    def assertIsOneMeasurement(self, nanoseconds, may_be_none=False):
        if not may_be_none:
            self.assertGreater(min(nanoseconds), 0)
        self.assertLess(max(nanoseconds) - min(nanoseconds), self.ROUNDED, nanoseconds)

    def test_what_a_probe_costs_is_measured_once(self):
        # On a busy machine the first agent may not have kept it when a second program has begun.
        script = f"{PROGRAMS / 'counts'}; sleep 0.3; {PROGRAMS / 'counts'}; env {PROGRAMS / 'counts'}; exit 0"
        self.succeeded(self.rdam("record", "-f", "work", "--", "sh", "-c", script))
        measured = [self.analyze(name)["trace"] for name in self.traces()]
        self.assertEqual(len(measured), 3)
        for figure in ("probe_cost_ns", "flow_cost_ns", "clock_error_ns"):
            # A clock may err by nothing that can be measured.
            self.assertIsOneMeasurement([trace[figure] for trace in measured], may_be_none=figure == "clock_error_ns")
        self.succeeded(self.rdam("record", "-f", "work", "-o", "other.bin", "--", "sh", "-c", f"RDAM_CLOCK=unfenced {PROGRAMS / 'counts'}; {script}"))
        costs = {}
        for path in self.folder.glob("other*.bin"):
            trace = self.analyze(path.name)["trace"]
            costs.setdefault(trace["clock"], []).append(trace["probe_cost_ns"])
        self.assertEqual({clock: len(each) for clock, each in costs.items()}, {"rdtscp": 3, "unfenced": 1})
        self.assertIsOneMeasurement(costs["rdtscp"])
        self.assertGreater(abs(costs["rdtscp"][0] - costs["unfenced"][0]), self.ROUNDED)

    def test_recorded_anew_below(self):
        done = self.preload("work", CHILDREN, "fork_exec", "1", f"{self.rdam_command()} record -o inner.bin -f work -- {self.COUNTS} 1 40; exit 3",
                            RDAM_CHILDREN="0")
        self.assertEqual(done.returncode, 6, done.stderr.decode())
        self.assertEqual((self.counts(), self.counts("inner.bin")), ({"work": 5}, {"work": 40}))

    def rdam_command(self) -> str:
        from harness import RDAM
        return f"env LD_PRELOAD= {RDAM}"


if __name__ == "__main__":
    unittest.main()
