#!/usr/bin/python3
"""Instructions of calls: what this machine's counters say, or why they say nothing; and the whole way from a counter to a
hint, with a recorder whose counter is moved by the program (tests/e2e/counted)."""

import array
import ast
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import PROGRAMS, RDAM, Case

LIBRDAM = os.environ["COUNTED_LIBRDAM"]
COUNTED = PROGRAMS / "counted"
ATTEMPTS = 6
ONE = 1  # what the program's own counter does not count: the return of the empty function that probes are measured with


def read_column(path) -> list:
    """A file of numpy's format."""
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + size].decode())
    values = array.array({"<u4": "I", "<u8": "Q"}[header["descr"]])
    values.frombytes(data[10 + size:])
    return values.tolist()


class Recorded(Case):
    def instructions(self, trace="trace.bin") -> dict[str, list[int]] | None:
        """Of each call, by function; None: there is no such column."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "columns"
        self.succeeded(self.rdam("export", "--columns", folder, trace))
        contents = json.loads((folder / "columns.json").read_text())
        column = contents["tables"]["calls"]["columns"].get("instructions")
        if column is None:
            return None
        names = [function["name"] for function in contents["functions"]]
        found: dict[str, list[int]] = {}
        for function, count in zip(read_column(folder / "calls/function.npy"), read_column(folder / column), strict=True):
            found.setdefault(names[function], []).append(count)
        return found


class Here(Recorded):
    """The recorder as it is, on whatever this machine has."""

    def record(self, *options):
        done = self.succeeded(self.rdam("record", *options, "-f", "known_loop", "--", COUNTED, "loop", "40"))
        report = self.analyze()
        self.assertEqual(report["functions"][0]["occurrences"], 40)
        return done.stderr.decode(), report["trace"]

    def test_counts_or_the_reason(self):
        said, trace = self.record("--counters=instructions")
        counters = trace["counters"]
        self.assertIn(counters["state"], ("counted", "unavailable"))
        notes = [note for note in trace["notes"] if note.startswith("Instructions were not counted: ")]
        if counters["state"] == "unavailable":
            print("no hardware counter here:", counters["reason"])
            self.assertTrue(counters["reason"])
            self.assertEqual(notes, [f"Instructions were not counted: {counters['reason']}."])
            self.assertEqual(said.count(f"rdam: instructions were not counted: {counters['reason']}\n"), 1, said)
            self.assertIsNone(self.instructions())
            return
        self.assertEqual(notes, [])
        self.assertNotIn("counted", said)
        self.assertGreater(counters["probe_instructions"], 50)
        counts = self.instructions()["known_loop"]
        known = [count for count in counts if count != 0]
        print(f"{len(known)} of {len(counts)} calls of a loop of 4,000,000 instructions were counted: {min(known)} to {max(known)}")
        self.assertGreater(len(known), len(counts) // 2)
        # Interrupts may be counted, too, and the processor is not told to wait for what it has begun.
        for count in known:
            self.assertTrue(4_000_000 <= count <= 4_002_000, count)

    def test_nothing_is_counted_unless_it_is_wanted(self):
        for options in ((), ("--counters=off",)):
            said, trace = self.record(*options)
            self.assertEqual(trace["counters"], {"state": "off"})
            self.assertNotIn("instructions", said + " ".join(trace["notes"]))
            self.assertIsNone(self.instructions())

    def test_where_perf_events_are_forbidden(self):
        done = self.forbidding(["perf_event_open"], RDAM, "record", "--counters=instructions", "-f", "known_loop", "--", COUNTED, "loop", "40")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        counters = self.analyze()["trace"]["counters"]
        self.assertEqual(counters["state"], "unavailable")
        self.assertIn("perf_event_open: Operation not permitted (forbidden by seccomp", counters["reason"])

    def test_what_is_no_choice(self):
        done = self.rdam("record", "--counters=cycles", "--", COUNTED, "loop", "1")
        self.assertEqual(done.returncode, 2)
        done = self.rdam("record", "-f", "known_loop", "--", COUNTED, "loop", "1", env={"RDAM_COUNTERS": "cycles"})
        self.assertIn("RDAM_COUNTERS='cycles' is not off or instructions", done.stderr.decode())


class Counted(Recorded):
    """A counter that is moved by the program."""

    def record(self, functions: str, *command, **variables):
        done = self.succeeded(self.run_in_folder(*command, env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions,
                                                                "RDAM_COUNTERS": "instructions", **variables}))
        return done

    def test_a_call_has_its_own_instructions_without_those_of_the_probes(self):
        for variables in ({}, {"RDAM_CLOCK": "rdtsc"}, {"RDAM_CLOCK": "monotonic"}, {"RDAM_ARGS": "0"}, {"RDAM_STACK_PERIOD": "1"},
                          {"RDAM_MAX_OVERHEAD": "100000%"}):
            with self.subTest(variables):
                self.record("outer,inner,apart", COUNTED, "nested", "300", **variables)
                self.assertEqual(self.analyze()["trace"]["counters"], {"state": "counted", "probe_instructions": 16})
                counts = self.instructions()
                self.assertEqual(counts["inner"], [100 + ONE] * 2 * (3000 + 300))
                self.assertEqual(counts["apart"], [50 + 100 + ONE] * 2 * 300)
                self.assertEqual(counts["outer"], [1000 + 10 * 100 + ONE] * 2 * 300)

    def test_a_sample_of_the_calls(self):
        self.record("outer,inner", COUNTED, "nested", "200000", RDAM_MAX_OVERHEAD="5%")
        counts = self.instructions()
        self.assertLess(len(counts["outer"]), 2 * 200000)
        self.assertEqual(set(counts["inner"]), {100 + ONE})
        self.assertEqual(set(counts["outer"]), {1000 + 10 * 100 + ONE})

    def test_fork_in_the_midst_of_a_call(self):
        """The page of the counter stays with the parent, where the call is still open in both."""
        self.record("outer,inner", COUNTED, "forks", "50")
        traces = self.traces()
        self.assertEqual(len(traces), 2)
        found = sorted(({name: sorted(set(counts)) for name, counts in self.instructions(trace).items()} for trace in traces),
                       key=len)
        self.assertEqual(found, [{"inner": [100 + ONE]}, {"inner": [100 + ONE], "outer": [1000 + 10 * 100 + ONE]}])

    def hints(self, what: str, wanted: str) -> dict[str, str]:
        """Of work(), from a run in which the rest of the machine did not interfere too much, if there is one."""
        for _ in range(ATTEMPTS):
            (self.folder / "trace.bin").unlink(missing_ok=True)
            self.record("work", "nice", "-n", "-20", COUNTED, what, "20000")
            work = self.analyze("trace.bin", "--threshold", "0")["functions"][0]
            hints = {hint["kind"]: hint["text"] for hint in work["hints"]}
            if wanted in hints:
                return hints
        return self.fail(f"no {wanted} in {hints}")

    def test_more_work(self):
        hints = self.hints("more", "more_work")
        self.assertIn("calls that lose time execute more instructions", hints["more_work"])
        # Nothing else is about the work; what else the machine does is not ours to say.
        self.assertFalse({"slower_work", "no_parameter", "parameter"} & set(hints), hints)

    def test_slower_work(self):
        hints = self.hints("slower", "slower_work")
        self.assertIn("the same instructions take longer", hints["slower_work"])
        self.assertFalse({"more_work", "parameter"} & set(hints), hints)

    def test_regions(self):
        self.assertEqual(self.rdam("record", "--", PROGRAMS / "regions").returncode, 0)
        # How often libc itself takes a lock depends on what its threads meet.
        own = ("outer", "inner", "100 rows", "loop's rest")
        without = {name: count for name, count in self.counts().items() if name in own}
        (self.folder / "trace.bin").unlink()
        self.succeeded(self.run_in_folder(PROGRAMS / "regions", env={"LD_PRELOAD": LIBRDAM, "RDAM_COUNTERS": "instructions"}))
        self.assertEqual({name: count for name, count in self.counts().items() if name in own}, without)
        counts = self.instructions()
        self.assertEqual({name: len(counts[name]) for name in ("outer", "inner")}, {"outer": 1000, "inner": 1000})
        # The program moves nothing; what is left is what the inner readings add.
        self.assertTrue(all(0 < count < 100 for name in ("outer", "inner") for count in counts[name]), counts)

    def test_every_register_is_kept(self):
        plain = self.run_in_folder(PROGRAMS / "registers")
        done = self.record("untouched,untouched_side", PROGRAMS / "registers")
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual(self.counts(), {"untouched": 1000, "untouched_side": 1000})

    def test_a_signal_at_every_instruction_of_the_probes(self):
        environment = {**os.environ, "RDAM_FUNCTIONS": "work,scaled,summed,first,second", "RDAM_OUTPUT": "stepped.bin",
                       "RDAM_COUNTERS": "instructions"}
        done = subprocess.run([PROGRAMS / "steps", LIBRDAM, "2", "100", "3", "1"], cwd=self.folder, capture_output=True,
                              env=environment, check=False)
        if done.returncode in (4, 10):
            self.skipTest("this process may not trace another (ptrace is forbidden here)")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        words = done.stdout.split()
        self.assertEqual(self.counts("stepped.bin"),
                         {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)})
        report = self.analyze("stepped.bin")
        self.assertEqual((report["trace"]["dropped"], report["trace"]["abandoned"]), (0, 0))
        self.assertEqual(report["trace"]["counters"]["state"], "counted")


if __name__ == "__main__":
    unittest.main()
