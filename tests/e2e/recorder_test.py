#!/usr/bin/python3
"""Programs do under the recorder what they do without it, and every call is counted."""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case

SHAPES = {"thrower": 1000, "with_cleanup": 1000, "by_value": 1, "variadic": 1, "in_memory": 1, "wide": 1, "recursive": 11,
          "many": 1, "leaves_thread": 1}


class Shapes(Case):
    """Exceptions, pthread_exit, stack-passed and wide arguments, recursion; with a stack frame and with a shadow frame."""

    def check(self, program: str):
        self.unchanged(",".join(SHAPES), PROGRAMS / program)
        self.assertEqual(self.counts(), SHAPES)
        notes = self.rdam("analyze").stdout.decode()
        self.assertNotIn("abandoned", notes)

    def test_described(self):
        self.check("shapes")

    def test_undescribed(self):
        self.check("shapes_undescribed")

    def test_undescribed_with_static_libraries(self):
        self.check("shapes_static")

    def test_other_clocks(self):
        for clock in ("unfenced", "rdtsc", "monotonic"):
            for program in ("shapes", "shapes_undescribed"):
                with self.subTest((clock, program)):
                    self.succeeded(self.rdam("record", "-o", clock, "--clock", clock, "-f", ",".join(SHAPES), "--", PROGRAMS / program))
                    self.assertEqual(self.counts(clock), SHAPES)
                    self.assertIn(self.analyze(clock)["trace"]["clock"], ("rdtsc", "rdpid") if clock == "rdtsc" else (clock,))

    def test_the_wait_for_the_traces_file_is_a_pause(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "1000")
        pauses = json.loads(subprocess.run([os.environ["TRACE_PAUSES"], self.folder / "trace.bin"], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(pauses["other"]["count"], 1, pauses)
        self.assertGreater(pauses["other"]["max"], 0)

    def test_clocks_agree(self):
        durations = {}
        for clock in ("rdtscp", "unfenced", "rdtsc", "monotonic"):
            self.rdam("record", "-o", clock, "--clock", clock, "-f", "nanosleep,usleep,sleep,clock_nanosleep", "--", "sleep", "0.3")
            durations[clock] = max(f["min_ns"] for f in self.analyze(clock)["functions"])
        # Nobody sleeps shorter than asked; the upper bound only tells a wrong unit from a busy machine.
        for clock, duration in durations.items():
            self.assertGreater(duration, 0.2999e9, clock)
            self.assertLess(duration, 30e9, clock)

    def test_what_the_clock_can_see_is_measured(self):
        for clock in ("rdtscp", "unfenced", "rdtsc", "monotonic"):
            with self.subTest(clock):
                self.rdam("record", "-o", clock, "--clock", clock, "-f", ",".join(SHAPES), "--", PROGRAMS / "shapes")
                trace = self.analyze(clock)["trace"]
                self.assertGreater(trace["probe_cost_ns"], 0)
                self.assertGreaterEqual(trace["flow_cost_ns"], trace["probe_cost_ns"])
                self.assertGreater(trace["clock_step_ns"], 0)
                self.assertGreaterEqual(trace["clock_error_ns"], 0)
                self.assertTrue(0 <= trace["machine_share"] <= 1, trace["machine_share"])

    def test_what_waits_by_design_stands_below(self):
        self.rdam("record", "-f", "pthread_mutex_lock,pthread_join", "--", os.environ["KNOWN_LOSS"], "mutex", "3", "2000")
        rows = {row["name"]: row for row in self.analyze()["functions"]}
        lock, join = rows["pthread_mutex_lock"], rows["pthread_join"]
        self.assertEqual((lock["by_design"], join["by_design"]), ("", "for a thread's end"))
        self.assertGreater(join["rdam"], 0.2)
        self.assertLess(lock["rank"], join["rank"])
        table = self.rdam("analyze", "trace.bin").stdout.decode()
        self.assertRegex(table, r"(?s)pthread_mutex_lock .*\n waiting by design:\n.*pthread_join, for a thread's end ")

    def test_call_stacks_lead_to_main(self):
        for program in ("shapes", "shapes_undescribed", "shapes_static"):
            with self.subTest(program):
                self.rdam("record", "-o", program + ".bin", "-f", ",".join(SHAPES), "--", PROGRAMS / program)
                functions = {f["name"]: f for f in self.analyze(program + ".bin")["functions"]}
                for name in set(SHAPES) - {"leaves_thread"}:
                    for stack in functions[name]["stacks"]:
                        self.assertTrue(any(frame.startswith("main ") for frame in stack["frames"]),
                                        f"{name}: {stack['frames']}")


class Ends(Case):
    """However the program ends, its status passes through and its events are there."""

    def check(self, how: str, status: int) -> str:
        done = self.succeeded(self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "3", "5000", how), status)
        self.assertEqual(self.counts(), {"work": 15000})
        return done.stderr.decode()

    def test_return(self):
        self.assertNotIn("killed", self.check("return", 3))

    def test_exit(self):
        self.check("exit", 7)

    def test_underscore_exit(self):
        self.check("_exit", 8)
        said = self.rdam("analyze").stdout.decode()
        self.assertIn("called _exit() or was killed", said)
        self.assertNotIn("missing", said)

    def test_abort(self):
        self.assertIn("rdam: the program was killed by SIGABRT (Aborted)\n", self.check("abort", 128 + signal.SIGABRT))

    def test_sigkill(self):
        self.assertIn("rdam: the program was killed by SIGKILL (Killed)\n", self.check("kill", 128 + signal.SIGKILL))

    def test_terminated_through_rdam(self):
        with subprocess.Popen([RDAM, "record", "-f", "work", PROGRAMS / "counts", "1", "100", "stop"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
            program.stdout.readline()
            program.terminate()
            self.assertEqual(program.wait(), 128 + signal.SIGTERM)
        self.assertEqual(self.counts(), {"work": 100})



class Machine(Case):
    def test_numa_nodes_are_those_of_sysfs(self):
        expected = {}
        for file in pathlib.Path("/sys/devices/system/node").glob("node[0-9]*/cpulist"):
            ranges = [part.split("-") for part in file.read_text().strip().split(",") if part]
            cpus = [cpu for part in ranges for cpu in range(int(part[0]), int(part[-1]) + 1)]
            if cpus:
                expected[int(file.parent.name.removeprefix("node"))] = cpus
        self.succeeded(self.rdam("record", "-f", "nap", "--", PROGRAMS / "switches", "sleeps", "1", "0"))
        trace = self.analyze()["trace"]
        self.assertEqual({node["node"]: node["processors"] for node in trace.get("nodes", [])}, expected)
        self.assertEqual("nodes" in trace, bool(expected))


class Processes(Case):
    def test_fork_and_exec_have_traces_of_their_own(self):
        self.unchanged("work", PROGRAMS / "forks")
        self.assertEqual(len(self.traces()), 3, self.traces())
        self.assertEqual(self.counts("trace.bin"), {"work": 10})
        others = sorted(self.counts(name)["work"] for name in self.traces() if name != "trace.bin")
        self.assertEqual(others, [20, 30])

    def test_children_of_vfork_record_nothing(self):
        for functions in ("work", "work,execl,_exit,execve,waitpid"):
            with self.subTest(functions):
                self.unchanged(functions, PROGRAMS / "vforks", "10")
                counts = self.counts()
                self.assertEqual((counts["work"], counts.get("execve")), (50, None))

    def test_plain_preload(self):
        done = self.preload("work", PROGRAMS / "counts", "2", "1000")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(self.counts(), {"work": 2000})

    def test_shell_that_starts_the_program_writes_no_trace(self):
        self.succeeded(self.rdam("record", "-f", "work", "--", "sh", "-c", f"{PROGRAMS}/counts 1 100; {PROGRAMS}/counts 1 200; exit 9"), 9)
        self.assertEqual(sorted(self.counts(name)["work"] for name in self.traces()), [100, 200])

    def test_plain_preload_overwrites_nothing_of_its_own_run(self):
        counts = PROGRAMS / "counts"
        # `timeout` takes its first lock behind the program's end.
        for command in (f"timeout 100 {counts} 1 100", f"sh -c '{counts} 1 100; {counts} 1 200; exit 3'"):
            with self.subTest(command):
                expected = [100] if command.startswith("timeout") else [100, 200]
                self.succeeded(self.preload("work,pthread_mutex_lock", *shlex.split(command)), 3)
                work = [self.counts(name).get("work") for name in self.traces()]
                self.assertEqual(sorted(count for count in work if count), expected)
                self.forget()
        # The next run is another one.
        for calls in ("100", "200"):
            self.preload("work", counts, "1", calls)
            self.assertEqual(self.traces(), ["trace.bin"])
            self.assertEqual(self.counts(), {"work": int(calls)})

    def test_what_the_program_starts_may_have_nothing_on_the_list(self):
        done = self.rdam("record", "-f", "work", "--", "env", "sh", "-c", "true && exit 4")
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertRegex(done.stderr.decode(), r"no trace was written: the recorder is known to have been loaded only into .* "
                                               r"\(the run ended with exit code 4\)\n")

    def test_reader_of_a_pipe_does_not_wait(self):
        # The program closes its output and lives on; so does the agent, which must not keep the pipe open.
        script = "import os, time; print('said', flush=True); os.close(1); os.close(2); time.sleep(200)"
        with subprocess.Popen(["/usr/bin/python3", "-c", script], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "malloc"}) as program:
            self.assertEqual(program.stdout.read(), b"said\n")
            self.assertIsNone(program.poll())
            program.kill()

    def test_own_preload_is_kept(self):
        done = self.rdam("record", "-f", "work", "--", "env", env={"LD_PRELOAD": "libm.so.6"})
        self.assertRegex(done.stdout.decode(), r"(?m)^LD_PRELOAD=.*librdam\.so:libm\.so\.6$")

    def test_program_sees_no_child_and_no_descriptor(self):
        script = ("import os\n"
                  "print(sorted(os.listdir('/proc/self/fd')))\n"
                  "try: print(os.waitpid(-1, os.WNOHANG))\n"
                  "except ChildProcessError: print('no child')\n")
        plain = self.run_in_folder("/usr/bin/python3", "-c", script)
        done = self.preload("malloc", "/usr/bin/python3", "-c", script)
        self.assertEqual(done.stdout, plain.stdout)

    def test_text_pages_are_not_writable_afterwards(self):
        script = "print([l for l in open('/proc/self/maps') if 'wx' in l.split()[1]])"
        done = self.preload("malloc,free,memset", "/usr/bin/python3", "-c", script)
        self.assertEqual(done.stdout, b"[]\n", done.stderr)


class Troubles(Case):
    """On any doubt rdam leaves the program alone, and says so."""

    def test_agent_that_dies_at_once(self):
        place = self.folder / "lib"
        (place / "rdam").mkdir(parents=True)
        shutil.copy(LIBRDAM, place)
        shutil.copy("/bin/false", place / "rdam" / "rdam-agent")
        done = self.run_in_folder(PROGRAMS / "counts", "1", "10",
                                  env={"LD_PRELOAD": str(place / "librdam.so"), "RDAM_FUNCTIONS": "work"})
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.decode().count("\n"), 1)
        self.assertIn("rdam-agent ended unexpectedly", done.stderr.decode())

    def test_no_agent(self):
        shutil.copy(LIBRDAM, self.folder)
        done = self.run_in_folder(PROGRAMS / "counts", "1", "10",
                                  env={"LD_PRELOAD": str(self.folder / "librdam.so"), "RDAM_FUNCTIONS": "work"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("rdam-agent is not next to librdam.so", done.stderr.decode())

    def test_standard_descriptors_closed(self):
        for redirection in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(redirection):
                done = self.run_in_folder("sh", "-c", f"exec {RDAM} record -o closed.bin -f work -- {PROGRAMS}/counts 2 100 {redirection}")
                self.assertEqual(done.returncode, 3, done.stderr.decode())
                self.assertEqual(self.counts("closed.bin"), {"work": 200})

    def test_wrong_settings(self):
        for name, value in (("RDAM_CLOCK", "sun"), ("RDAM_BUFFER", "much"), ("RDAM_BUFFER", "512K"), ("RDAM_MAX_OVERHEAD", "10"),
                            ("RDAM_STACK_PERIOD", "-1"), ("RDAM_STACK_PERIOD", "10k"), ("RDAM_ARGS", "2"),
                            ("RDAM_WHEN_FULL", "panic"), ("RDAM_SWITCHES", "sometimes"), ("RDAM_FUNCTIONS", ""),
                            ("RDAM_CHILDREN", "yes"), ("RDAM_ALL_CALLS", "yes")):
            with self.subTest(name):
                done = self.preload("work", PROGRAMS / "counts", "1", "10", **{name: value})
                self.assertEqual(done.returncode, 3)
                self.assertEqual(done.stderr.decode().count("\n"), 1, done.stderr.decode())
                self.assertIn(name, done.stderr.decode())
                self.assertEqual(self.traces(), [])

    def test_wrong_options(self):
        for option, value in (("--clock", "sun"), ("--buffer", "much"), ("--buffer", "512K"), ("--stack-period", "junk"), ("--when-full", "panic"),
                              ("--switches", "sometimes")):
            with self.subTest(option):
                done = self.rdam("record", option, value, "-f", "work", "--", PROGRAMS / "counts")
                self.assert_one_line(done, 2, value)


class Functions(Case):
    def test_mutual_tail_recursion(self):
        done = self.rdam("record", "-f", "odd,even", "--", PROGRAMS / "tails")
        self.assertEqual((done.returncode, done.stdout), (0, b"6600\n1500000\n"), done.stderr.decode())
        self.assertEqual(self.counts(), {"odd": 500000, "even": 500001})

    def test_parameters_of_a_tail_called_function(self):
        self.rdam("record", "-f", "jumps,target", "--", PROGRAMS / "tails")
        self.assertEqual(self.counts(), {"jumps": 300, "target": 300})
        for parameter, values in (("a", 3), ("b", 5), ("h", 2), ("i", 1)):
            functions = self.analyze("trace.bin", "--key", f"target:{parameter}")["functions"]
            target = next(f for f in functions if f["name"] == "target")
            self.assertEqual(len(target["sequences"]), values, parameter)

    def test_what_the_recorder_itself_could_call(self):
        names = ("malloc,free,calloc,realloc,memcpy,memset,memcmp,memmove,strlen,write,read,mmap,munmap,mprotect,madvise,close,"
                 "pthread_mutex_lock,pthread_mutex_unlock,pthread_create,pthread_join,pthread_setspecific,clock_gettime")
        self.unchanged(names, "/usr/bin/python3", "-c", "print(sum(map(len, map(str, range(100000)))))")
        self.assertGreater(self.counts()["malloc"], 100)

    def test_static_function_and_its_parameters(self):
        self.rdam("record", "-f", "counts.c:step,work", "--", PROGRAMS / "counts", "2", "1000")
        self.assertEqual(self.counts(), {"work": 2000, "step": 6000})
        sequences = {f["name"]: len({s["name"] for s in f["sequences"]})
                     for f in self.analyze("trace.bin", "--key", "work:x")["functions"]}
        self.assertEqual(sequences["work"], 4)

    def test_small_buffers_lose_nothing(self):
        self.succeeded(self.rdam("record", "--buffer", "4M", "-f", "step,work", "--", PROGRAMS / "counts", "2", "300000"), 3)
        report = self.analyze()
        self.assertEqual(report["trace"]["dropped"], 0)
        self.assertEqual({f["name"]: f["occurrences"] for f in report["functions"]}, {"work": 600000, "step": 1800000})

    def test_many_threads(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "60", "50")
        report = self.analyze()
        self.assertEqual(report["functions"][0]["occurrences"], 3000)
        self.assertEqual(len(report["threads"]), 60)


if __name__ == "__main__":
    unittest.main()
