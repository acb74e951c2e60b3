#!/usr/bin/python3
"""rdam-microbench: each benchmark does what it says, so often as it says, and rdam sees all of it."""

import json
import os
import pathlib
import re
import socket
import subprocess
import unittest

from harness import PROGRAMS, RDAM, TIMEOUT, Case
from planted_causes import ALWAYS

MICROBENCH = os.environ["MICROBENCH"]
README = pathlib.Path(os.environ["SOURCE_ROOT"]) / "microbench/README.md"
ATTEMPTS = 5  # what else runs on the machine disturbs as well: most of them must tell

# The measured function, threads, iterations, other options.
RUNS = {
    "lock": ("lock_increment", 3, 500, []),
    "lock, work": ("lock_increment", 2, 50, ["--work", "2us"]),
    "lock, least work": ("lock_increment", 2, 50, ["--work", "0ns"]),
    "lock, control": ("lock_increment", 2, 500, ["--private"]),
    "spinlock": ("spinlock_increment", 2, 500, []),
    "spinlock, control": ("spinlock_increment", 2, 500, ["--private", "--pin"]),
    "falsesharing": ("shared_increment", 2, 5000, []),
    "falsesharing, pause": ("shared_increment", 2, 500, ["--pause", "1us", "--work", "100ns"]),
    "falsesharing, control": ("shared_increment", 6, 100, ["--padded"]),
    "falsesharing, store": ("shared_store", 2, 500, ["--store"]),
    "io": ("read_block", 4, 20, ["--path", "."]),
    "barrier": ("wait_for_others", 3, 50, []),
    "barrier, control": ("wait_for_others", 2, 50, ["--equal"]),
    "condvar": ("queue_write", 3, 100, ["--write", "2us"]),
    "membw": ("stream_block", 2, 40, []),
    "membw, control": ("stream_block", 1, 40, ["--neighbours", "0"]),
    "falsepositive": ("search_list", 2, 100, ["--length", "100"]),
    "falsepositive, loop": ("triangle_row", 1, 100, ["--kind", "triangle"]),
    "network": ("send_request", 2, 30, []),
    "placement": ("read_shared", 2, 40, ["--megabytes", "1"]),
    "placement, control": ("read_shared", 3, 40, ["--megabytes", "1", "--own", "--pin"]),
}
KEYS = ["benchmark", "delay_ns", "threads", "iterations", "operation", "calls", "seconds"]

# Arguments, exit code, what the line on standard error says.
REFUSED = [
    ([], 2, "--list"),
    (["lok"], 2, "lok"),
    (["lock", "--thread", "2"], 2, "--thread"),
    (["lock", "--threads", "0"], 2, "--threads"),
    (["lock", "--threads", "two"], 2, "--threads"),
    (["lock", "--iterations", "0"], 2, "--iterations"),
    (["lock", "--iterations", "-1"], 2, "--iterations"),
    (["lock", "--delay", "10 parsecs"], 2, "--delay"),
    (["lock", "--delay", "1us..1ms"], 2, "how many points"),
    (["lock", "--delay", "1ms..1us/4"], 2, "LOW < HIGH"),
    (["lock", "--padded"], 2, "--padded"),
    (["lock", "--work", "10 parsecs"], 2, "--work"),
    (["lock", "--work", "1us", "--updates", "3"], 2, "--updates"),
    (["falsesharing", "--pause", "-1us"], 2, "--pause"),
    (["falsesharing", "--threads", "5"], 1, "--threads"),
    (["io", "--path", "nowhere"], 1, "--path"),
    (["numa", "--only", "bandwith"], 2, "--only"),
    (["numa", "--elements", "0"], 2, "--elements"),
    (["numa", "--elements", str(1 << 40)], 1, "--elements"),
    (["placement", "--megabytes", "0"], 2, "--megabytes"),
    (["falsepositive", "--kind", "square"], 2, "--kind"),
    (["network", "--role", "server"], 2, "--port"),
    (["network", "--port", "-1"], 2, "--port"),
    (["network", "--together"], 1, "--together"),
    (["network", "--address", "localhost"], 1, "--address"),
]


class Microbench(Case):
    def points(self, done) -> list[dict]:
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def record(self, operation: str, *arguments) -> list[dict]:
        return self.points(self.rdam("record", "-f", operation, "-o", "trace.bin", "--", MICROBENCH, *arguments))

    def check_run(self, name: str):
        operation, threads, iterations, options = RUNS[name]
        benchmark = name.split(",")[0]
        point, = self.record(operation, benchmark, "--threads", threads, "--iterations", iterations, "--delay", "1us", *options)
        self.assertEqual(list(point), KEYS)
        self.assertEqual([point[key] for key in KEYS[:6]], [benchmark, 1000, threads, iterations, operation, threads * iterations])
        self.assertGreater(point["seconds"], 0)
        self.assertEqual(self.counts(), {operation: threads * iterations})
        self.assertEqual(list(self.folder.glob("rdam-microbench*")), [])

    def test_every_benchmark_is_run_and_described(self):
        listed = [line.split()[0] for line in self.run_in_folder(MICROBENCH, "--list").stdout.decode().splitlines()]
        self.assertEqual(listed, [*dict.fromkeys(name.split(",")[0] for name in RUNS), "numa"])
        text = README.read_text()
        self.assertIn("\n## rdam-microbench numa\n", text)
        for name in listed[:-1]:
            self.assertIn(f"\n| `{name}` |", text)
            self.assertIn("--delay", self.run_in_folder(MICROBENCH, name, "--help").stdout.decode())

    def test_the_numa_suite_measures_every_pair_of_nodes_or_says_that_there_is_one(self):
        done = self.succeeded(self.run_in_folder(MICROBENCH, "numa", "--elements", "8192", "--large", "16384", "--repetitions", "1"))
        lines = list(map(json.loads, done.stdout.decode().splitlines()))
        by_name = {name: [line for line in lines if line["measurement"] == name] for name in (
            "bandwidth", "pairs", "threads", "sharing", "sizes", "latency", "access")}
        self.assertEqual(sum(map(len, by_name.values())), len(lines))
        nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")) or [0])
        self.assertEqual(len({(line["processor_of"], line["memory_of"]) for line in by_name["pairs"]}), nodes ** 2)
        self.assertEqual(len(by_name["pairs"]), 2 * nodes ** 2)
        for line in by_name["pairs"]:
            if line["processor_of"] == line["memory_of"]:
                self.assertEqual((line["distance"], line["triad_factor"], line["bandwidth_factor"], line["latency_factor"]), (10, 1, 1, 1))
        self.assertEqual({line["policy"] for line in by_name["access"]},
                         {"first-touch"} if nodes == 1 else {"first-touch", "bind_block", "cyclic", "skew_mapp", "prime_mapp", "random"})
        combinations = {(line["vectors"], line["order"], line["schedule"]) for line in by_name["access"]}
        self.assertEqual(len(combinations), 18)
        for line in lines:
            for key, value in line.items():
                if key.endswith(("_s", "_ns", "_factor")):
                    self.assertGreater(value, 0, line)
        self.assertEqual(done.stderr.decode().count("this machine has one node of memory"), int(nodes == 1))

    def test_some_of_the_numa_suite(self):
        done = self.succeeded(self.run_in_folder(MICROBENCH, "numa", "--only", "latency,bandwidth", "--elements", "4096", "--large", "4096",
                                                 "--repetitions", "1"))
        self.assertEqual({json.loads(line)["measurement"] for line in done.stdout.splitlines()}, {"bandwidth", "latency"})
        with open("/dev/full", "wb") as full:
            done = subprocess.run([MICROBENCH, "numa", "--only", "bandwidth", "--elements", "4096", "--repetitions", "1"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=240, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write to standard output", done.stderr)

    def test_commands_of_the_findings(self):
        section, = re.findall(r"^### Three findings.*?(?=^##)", README.read_text(), re.DOTALL | re.MULTILINE)
        commands = re.findall(r"(?:^    .*\n)+", section, re.MULTILINE)
        path = os.pathsep.join([str(pathlib.Path(program).parent) for program in (RDAM, MICROBENCH)] + [os.environ["PATH"]])
        outputs = []
        for command in commands:
            done = self.succeeded(self.run_in_folder("sh", "-e", "-c", command, env={"PATH": path}))
            outputs.append(done.stdout.decode())
        self.assertEqual([output.count('"mean_ns"') for output in outputs], [4, 1, 0])
        self.assertEqual(re.findall('"operation":"(.*?)"', outputs[0]), ["shared_increment", "shared_store"] * 2)
        self.assertEqual(len(re.findall(r"(?m) wait_for_others +[\d,]+ ", outputs[2])), 4, outputs[2])

    def test_sweep(self):
        points = self.record("lock_increment", "lock", "--threads", 2, "--iterations", 100, "--delay", "1us..100us/3")
        self.assertEqual([point["delay_ns"] for point in points], [1000, 10000, 100000])
        self.assertEqual(self.counts(), {"lock_increment": 600})

    def test_self_timed(self):
        point, = self.points(self.run_in_folder(MICROBENCH, "lock", "--iterations", 100, "--self-timed"))
        self.assertEqual(list(point), [*KEYS, "mean_ns"])
        self.assertGreater(point["mean_ns"], 0)

    def test_all_stop_when_the_first_is_done(self):
        point, = self.record("shared_increment", "falsesharing", "--threads", 2, "--iterations", 20000, "--delay", "100us", "--together")
        self.assertGreaterEqual(point["calls"], 20000)
        self.assertLess(point["calls"], 40000)
        self.assertEqual(self.counts(), {"shared_increment": point["calls"]})

    def test_client_and_server_are_two_programs(self):
        common = ["--port", free_port(), "--threads", "2", "--iterations", "50", "--delay", "10us..100us/2"]
        with subprocess.Popen([RDAM, "record", "-f", "serve_request", "-o", "server.bin", "--", MICROBENCH, "network",
                               "--role", "server", *common], cwd=self.folder, stdout=subprocess.PIPE) as server:
            points = self.record("send_request", "network", "--role", "client", *common)
            served, _ = server.communicate(timeout=TIMEOUT)
        self.assertEqual(server.returncode, 0)
        self.assertEqual([point["operation"] for point in points], ["send_request"] * 2)
        self.assertEqual([json.loads(line)["operation"] for line in served.splitlines()], ["serve_request"] * 2)
        self.assertEqual(self.counts("trace.bin"), {"send_request": 200})
        self.assertEqual(self.counts("server.bin"), {"serve_request": 200})

    def test_client_that_asks_more_often_than_the_server_serves_is_told(self):
        port = free_port()
        with subprocess.Popen([MICROBENCH, "network", "--role", "server", "--port", port, "--iterations", "10"],
                              stdout=subprocess.DEVNULL) as server:
            done = self.run_in_folder(MICROBENCH, "network", "--role", "client", "--port", port, "--iterations", "20")
            self.assertEqual(server.wait(TIMEOUT), 0)
        self.assert_complains(done, 1, "--iterations")

    def assert_complains(self, done, status: int, words: str):
        text = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (status, b""), text)
        self.assertRegex(text, r"\Ardam-microbench: [^\n]+\n\Z")
        self.assertIn(words, text)

    def test_refused(self):
        for arguments, status, words in REFUSED:
            with self.subTest(arguments=arguments):
                self.assert_complains(self.run_in_folder(MICROBENCH, *arguments), status, words)

    def test_processors_that_are_refused(self):
        """The last one belongs to the second thread, which is the neighbour of `membw`; or to all where there is one only."""
        refused = {"LD_PRELOAD": str(PROGRAMS / "librefuses_processor.so"), "REFUSED_PROCESSOR": str(max(os.sched_getaffinity(0)))}
        for benchmark, threads in (("lock", 2), ("membw", 1)):
            with self.subTest(benchmark=benchmark):
                command = (MICROBENCH, benchmark, "--threads", threads, "--iterations", 10)
                self.assertEqual(self.run_in_folder(*command, env=refused).returncode, 0)
                self.assert_complains(self.run_in_folder(*command, "--pin", env=refused, preexec_fn=on_two_processors), 1, "--pin")

    def hinted(self, kind: str, operation: str, parameter: str) -> bool:
        """Whether the first hint of a run names the parameter as what the time depends on."""
        (self.folder / "trace.bin").unlink(missing_ok=True)
        self.record(operation, "falsepositive", "--kind", kind, "--iterations", 20000)
        row, = self.analyze()["functions"]
        hints = [hint for hint in row["hints"] if "share" in hint and hint["kind"] not in ALWAYS]
        self.told.append(hints[:1])
        if not hints or (hints[0]["kind"], hints[0].get("parameter")) != ("parameter", parameter):
            return False
        kept, = self.analyze("trace.bin", "--key", f"{operation}:{parameter}")["functions"]
        return row["rdam"] >= 0.2 and kept["rdam"] < row["rdam"]

    def check_hint(self, kind: str, operation: str, parameter: str):
        self.told, votes = [], {True: 0, False: 0}
        while max(votes.values()) <= ATTEMPTS // 2:
            votes[self.hinted(kind, operation, parameter)] += 1
        self.assertGreater(votes[True], votes[False], self.told)

    def test_hint_about_the_list(self):
        self.check_hint("list", "search_list", "key")

    def test_hint_about_the_loop(self):
        self.check_hint("triangle", "triangle_row", "row")


def on_two_processors():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-2:])


def free_port() -> str:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return str(any_port.getsockname()[1])


def add(name: str):
    def test(self):
        self.check_run(name)
    setattr(Microbench, "test_run_" + name.replace(", ", "_"), test)


for each in RUNS:
    add(each)


if __name__ == "__main__":
    unittest.main()
