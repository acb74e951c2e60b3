#!/usr/bin/python3
"""What rdam study sees of the machine around each run, and changes on it: interrupts, the kernel's noise, frequencies, prefetchers.

Neither the osnoise tracer nor frequencies nor registers are everywhere: folders with the same files stand for the kernel's.
"""

import contextlib
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import threading
import types
import unittest

from harness import TIMEOUT, Case
from pythons import MODULE

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

from rdam import Error  # noqa: E402
from rdam.study import native, runs, watch  # noqa: E402
from rdam.study.settings import Setting  # noqa: E402

RUNNER = native.find(runs.RUNNER)
MASK = 0xF
FORMER = 0x1230  # of a register, with bits that are none of the prefetchers'
PROCESSORS = sorted(os.sched_getaffinity(0))

NOISE = """\
# tracer: osnoise
#
#           TASK-PID     CPU#  ||||| TIMESTAMP    FUNCTION
       odd: [001]-{other}   [{cpu:03}] d.h1.  5789.857532: irq_noise: eth0-rx-0:40 start 5789.857529929 duration 1845 ns
          <...>-{other}   [{cpu:03}] d.h1.  5789.857632: irq_noise: local_timer:236 start 5789.857529929 duration 200 ns
          <...>-{other}   [{cpu:03}] ..s1.  5789.858132: softirq_noise:   NET_RX:3 start 5789.857529929 duration 20 ns
          <...>-{other}   [{cpu:03}] ..s1.  5789.858232: softirq_noise:    SCHED:7 start 5789.857529929 duration 3000 ns
          <...>-{other}   [{cpu:03}] d.Z1.  5789.858408: nmi_noise: start 5789.858404871 duration 7 ns
          <...>-{other}   [{elsewhere:03}] d.Z1.  5789.858409: nmi_noise: start 5789.858404871 duration 1000000 ns
             sh-$$        [{cpu:03}] .....  5789.858410: sched_process_fork: comm=sh pid=$$ child_comm=sh child_pid=9999991
             sh-9999991   [{cpu:03}] .....  5789.858411: sched_process_fork: comm=a pid=1 b pid=9999991 child_comm=a b child_pid=9999992
          <...>-{other}   [{cpu:03}] .....  5789.858411: sched_process_fork: comm=cron pid={other} child_comm=cron child_pid=9999993
             sh-$$        [{cpu:03}] d..2.  5789.858412: thread_noise:       sh:$$ start 5789.858409300 duration 50000 ns
              b-9999992   [{cpu:03}] d..2.  5789.858413: thread_noise:      a b:9999992 start 5789.858409300 duration 60000 ns
         <idle>-0         [{cpu:03}] d..2.  5789.858414: thread_noise: swapper/0:0 start 5789.858409300 duration 70000 ns
           cron-9999993   [{cpu:03}] d..2.  5789.858415: thread_noise: kworker/0:1:9999993 start 5789.858409300 duration 400 ns
      migration-{other}   [{cpu:03}] d..2.  5789.858416: thread_noise: migration/8:{other} start 5789.858409300 duration 68 ns
"""


class Machines(Case):
    def request(self, *command: str, **wanted) -> dict:
        return {"study": os.getpid(), "command": list(command), "environment": [f"PATH={os.environ['PATH']}"], **wanted}

    def begun(self, request: dict) -> subprocess.Popen:
        runner = subprocess.Popen([RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(runner.stdout.close)
        runner.stdin.write(json.dumps(request))
        runner.stdin.close()
        return runner

    def answer(self, *command: str, **wanted) -> dict:
        with self.begun(self.request(*command, **wanted)) as runner:
            return json.loads(runner.stdout.read().splitlines()[-1])


def counted(path: str) -> dict[str, int]:
    """By the kernel's names of softirqs, on all processors."""
    lines = [line.split() for line in pathlib.Path(path).read_text().splitlines()[1:]]
    return {line[0].rstrip(":"): sum(int(word) for word in line[1:] if word.isdecimal()) for line in lines}


class Interrupts(Machines):
    def test_they_are_those_that_the_kernel_has_counted(self):
        """Datagrams to this machine itself are received in a softirq; no more can have come inside a run than around it."""
        script = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0)); " \
                 "[(s.sendto(b'x', s.getsockname()), s.recv(9)) for _ in range(50)]"
        before = {**counted("/proc/softirqs"), **counted("/proc/interrupts")}
        answer = self.answer(sys.executable, "-c", script, processors=PROCESSORS)
        after = {**counted("/proc/softirqs"), **counted("/proc/interrupts")}
        self.assertEqual(answer["exit_code"], 0)
        self.assertGreater(answer["softirqs"]["NET_RX"], 0)
        for name, count in {**answer["softirqs"], **answer["interrupts"]}.items():
            self.assertGreater(count, 0)
            if name in after:  # devices have names of their own there
                self.assertLessEqual(count, after[name] - before[name], name)

    def test_only_those_of_the_runs_processors_count(self):
        """There is no processor 8000."""
        answer = self.answer("true", processors=[PROCESSORS[0], 8000])
        self.assertIsInstance(answer["interrupts"], dict)
        self.assertIn("error", self.answer("true", processors=[8000]))


class Noise(Machines):
    def setUp(self):
        super().setUp()
        self.tracefs = self.folder / "tracing"
        self.instance = self.tracefs / "instances" / watch.Osnoise(self.tracefs).instance
        events = self.instance / "events"
        for path, text in {self.tracefs / "available_tracers": "osnoise nop\n",
                           self.tracefs / "osnoise/options": "NO_PANIC_ON_STOP OSNOISE_WORKLOAD\n", self.instance / "tracing_on": "1\n",
                           self.instance / "trace": "of another run: irq_noise: x:1 start 1 duration 9 ns\n",
                           self.instance / "current_tracer": "nop\n", events / "sched/sched_process_fork/enable": "0\n",
                           self.instance / "per_cpu/cpu0/stats": "entries: 14\noverrun: 0\ndropped events: 0\n",
                           **{events / f"osnoise/{kind}_noise/enable": "0\n" for kind in ("nmi", "irq", "softirq", "thread")}}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def text(self, name: str) -> str:
        return (self.instance / name).read_text()

    def measured(self, after: str = "true") -> dict:
        """Of a run that puts NOISE into the trace, and looks at how the kernel is asked."""
        noise = NOISE.format(cpu=PROCESSORS[0], elsewhere=8000, other=os.getpid())
        script = f"""cat > {self.instance}/trace <<END
{noise}END
cat {self.instance}/tracing_on {self.instance}/current_tracer {self.tracefs}/osnoise/options > {self.folder}/seen; {after}"""
        return self.answer("sh", "-c", script, osnoise=watch.Osnoise(self.tracefs).request(), processors=PROCESSORS[:1])

    def test_it_is_told_by_source_and_what_the_program_does_is_none(self):
        answer = self.measured()
        self.assertEqual(answer["osnoise"], {"irq": 1845, "softirq": 20, "nmi": 7, "thread": 468, "timer": 3200})
        self.assertEqual((self.folder / "seen").read_text(), "1osnoiseNO_OSNOISE_WORKLOAD")
        self.assertEqual([self.text(name) for name in ("tracing_on", "current_tracer", "events/osnoise/irq_noise/enable")], ["0", "nop", "1"])
        self.assertEqual((self.tracefs / "osnoise/options").read_text(), "OSNOISE_WORKLOAD")

    def test_dropped_events_are_not_taken_for_none(self):
        self.assertIsNone(self.measured(f"echo overrun: 5 > {self.instance}/per_cpu/cpu0/stats")["osnoise"])

    def test_a_trace_that_cannot_be_had_is_told(self):
        (self.instance / "events/osnoise/irq_noise/enable").unlink()
        error = self.answer("true", osnoise=watch.Osnoise(self.tracefs).request())["error"]
        self.assertIn("irq_noise/enable: cannot be written", error)
        self.assertEqual((self.tracefs / "osnoise/options").read_text(), "OSNOISE_WORKLOAD")

    def test_why_there_is_none_is_told(self):
        tracer = watch.Osnoise(self.tracefs)
        tracer.check()
        for path, text, words in (("osnoise/options", "PANIC_ON_STOP", "no OSNOISE_WORKLOAD"), ("available_tracers", "nop", "CONFIG_OSNOISE_TRACER")):
            (self.tracefs / path).write_text(text)
            with self.assertRaisesRegex(Error, words):
                tracer.check()
        with self.assertRaisesRegex(Error, "mount -t tracefs"):
            watch.Osnoise(self.folder / "missing").check()

    def test_a_killed_runners_instance_goes(self):
        tracer = watch.Osnoise(self.tracefs)
        (self.tracefs / "osnoise/options").write_text("PANIC_ON_STOP NO_OSNOISE_WORKLOAD")
        for path in sorted(self.instance.rglob("*"), reverse=True):  # the kernel's folder goes with what is in it
            path.rmdir() if path.is_dir() else path.unlink()
        with self.assertRaises(KeyError), watch.Watch(osnoise=tracer).kept():
            (self.tracefs / "osnoise/options").write_text("OSNOISE_WORKLOAD")
            raise KeyError
        self.assertFalse(self.instance.exists())
        self.assertEqual((self.tracefs / "osnoise/options").read_text(), "NO_OSNOISE_WORKLOAD")


class FrequencyLogs(Machines):
    def setUp(self):
        super().setUp()
        for processor in (0, 1):
            self.put(processor, 1_000_000 + processor)
        os.mkfifo(self.folder / "gate")

    def put(self, processor: int, khz: int) -> None:
        path = self.folder / f"cpu{processor}/cpufreq/scaling_cur_freq"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{khz}\n")

    def wanted(self) -> dict:
        return {"folder": str(self.folder), "processor": PROCESSORS[-1], "every_ms": 1}

    def test_they_are_read_while_the_run_goes_on(self):
        if PROCESSORS[0] != 0:
            self.skipTest("processor 0 is not among those of this process")
        runner = self.begun(self.request("sh", "-c", f"read line < {self.folder}/gate", frequencies=self.wanted(), processors=[0]))
        program = json.loads(runner.stdout.readline())["pid"]
        (log,) = {int(word) for word in pathlib.Path(f"/proc/{runner.pid}/task/{runner.pid}/children").read_text().split()} - {program}
        self.assertEqual(os.sched_getaffinity(log), {PROCESSORS[-1]})

        def sleeps() -> int:
            (line,) = (line for line in pathlib.Path(f"/proc/{log}/status").read_text().splitlines() if line.startswith("voluntary_ctxt"))
            return int(line.split()[1])

        for khz in (1_000_000, 3_000_000, 2_000_000):
            self.put(0, khz)
            before = sleeps()
            self.until(lambda: sleeps() > before + 2, "nothing reads the frequencies")  # noqa: B023
        (self.folder / "gate").write_text("go\n")
        answer = json.loads(runner.stdout.readline())
        self.assertEqual(runner.wait(TIMEOUT), 0)
        self.assertEqual((answer["least_frequency_khz"], answer["greatest_frequency_khz"]), (1_000_000, 3_000_000))
        self.assertTrue(1_000_000 < answer["frequency_khz"] < 3_000_000, answer["frequency_khz"])
        self.assertEqual(answer["left_behind"], 0)

    def test_a_run_that_is_too_short_has_none(self):
        answer = self.answer("true", frequencies={**self.wanted(), "every_ms": 3_600_000}, processors=[0])
        self.assertIsNone(answer["frequency_khz"])

    def test_what_cannot_be_read_is_told(self):
        self.assertIn("cpu7/cpufreq/scaling_cur_freq: cannot be opened", self.answer("true", frequencies=self.wanted(), processors=[0, 7])["error"])
        with self.assertRaisesRegex(Error, "--frequencies: there is no .*cpufreq"):
            watch.Frequencies(0.01, self.folder / "cpu0").check()
        watch.Frequencies(0.01, self.folder).check()

    def test_the_processor_is_one_that_the_run_leaves_alone(self):
        self.need("lstopo-no-graphics")
        if len(PROCESSORS) < 2:
            self.skipTest("one processor: a run leaves none alone")
        one, all_of_them = Setting(spared_cores=1, label="spare 1"), Setting(label="as it is")
        log = watch.Watch(watch.Frequencies(0.01, self.folder))
        runs.Place([one]).check(log)
        chosen = log.request(one, runs.Place([one]).of(one, ""))["frequencies"]["processor"]
        self.assertNotIn(chosen, runs.Place([one]).of(one, "").mask)
        with self.assertRaisesRegex(Error, "'as it is' uses all processors.*--spare 1"):
            runs.Place([one, all_of_them]).check(log)


class Registers(Machines):
    def setUp(self):
        super().setUp()
        self.devices = self.folder / "cpu"
        for processor in PROCESSORS:
            (self.devices / str(processor)).mkdir(parents=True)
            self.register(processor).write_bytes(bytes(watch.PREFETCHERS) + struct.pack("Q", FORMER))
        self.prefetchers = watch.Prefetchers(MASK, self.devices)
        self.forever = ("sleep", str(100000 + os.getpid()))

    def register(self, processor: int) -> pathlib.Path:
        return self.devices / str(processor) / "msr"

    def values(self) -> set[int]:
        return {struct.unpack("Q", value)[0] for value in self.prefetchers.values().values()}

    def test_they_are_off_or_on_in_the_run_only(self):
        for is_on, former, inside in ((False, FORMER, FORMER | MASK), (True, FORMER | 5, FORMER)):
            self.prefetchers.restore({processor: struct.pack("Q", former) for processor in PROCESSORS})
            script = "; ".join(f"od -An -tx8 -j {watch.PREFETCHERS} {self.register(processor)}" for processor in PROCESSORS)
            answer = self.answer("sh", "-c", script, prefetcher=self.prefetchers.request(is_on), stdout=str(self.folder / "seen"))
            self.assertEqual(answer["exit_code"], 0)
            self.assertEqual({int(line, 16) for line in (self.folder / "seen").read_text().split()}, {inside})
            self.assertEqual(self.values(), {former})

    def test_they_are_as_they_were_however_a_run_ends(self):
        wanted = self.prefetchers.request(False)
        for words, more in ((("sh", "-c", "kill -9 $$"), {}), (("./missing",), {}), (("sleep", "9"), {"time_limit_s": 0.01}),
                            (("true",), {"co_runners": [{"kind": "command", "command": ["./missing"]}]}), (("true",), {"stdout": "/no/such/place"})):
            with self.subTest(words=words, more=more):
                self.answer(*words, prefetcher=wanted, **more)
                self.assertEqual(self.values(), {FORMER})
        with self.begun(self.request(*self.forever, prefetcher=wanted)) as runner:
            self.until(lambda: self.values() == {FORMER | MASK}, "the prefetchers are on")
            runner.send_signal(signal.SIGTERM)
        self.assertEqual(self.values(), {FORMER})

    def test_they_are_as_they_were_when_the_study_is_killed(self):
        request = self.request(*self.forever, prefetcher=self.prefetchers.request(False))
        script = "import json, os, subprocess, sys; request = {**json.loads(sys.argv[2]), 'study': os.getpid()}; " \
                 "subprocess.run([sys.argv[1]], input=json.dumps(request), text=True)"
        study = subprocess.Popen([sys.executable, "-c", script, RUNNER, json.dumps(request)], stdout=subprocess.DEVNULL)
        self.until(lambda: self.values() == {FORMER | MASK}, "the prefetchers are on")
        study.kill()
        study.wait()
        self.until(lambda: self.values() == {FORMER}, "the prefetchers are off")

    def test_they_are_as_they_were_when_the_runner_is_killed(self):
        setting = Setting(command=self.forever, prefetcher=False, label="off")
        study = runs.Runs([setting], types.SimpleNamespace(append=self.fail), runs.Place([setting]), [], runs.Check("none"), 0, None, None,
                          watch.Watch(prefetchers=self.prefetchers), regions=False)

        def kill():
            self.until(lambda: self.values() == {FORMER | MASK}, "the prefetchers are on")
            for child in runs.children():
                if str(RUNNER) in pathlib.Path(f"/proc/{child}/cmdline").read_text():
                    os.kill(child, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with self.assertRaisesRegex(Error, "signal 9"):
            study.make([(runs.Planned(0, 0, True),)], lambda *_: None)
        killer.join()
        self.assertEqual(self.values(), {FORMER})

    def test_a_register_that_ignores_what_is_written_is_told(self):
        self.register(PROCESSORS[-1]).unlink()
        self.register(PROCESSORS[-1]).symlink_to("/dev/zero")
        self.assertIn("stay as they were", self.answer("true", prefetcher=self.prefetchers.request(False))["error"])
        with self.register(PROCESSORS[0]).open("rb") as file:
            first = struct.unpack("Q", os.pread(file.fileno(), 8, watch.PREFETCHERS))[0]
        self.assertEqual(first, FORMER if len(PROCESSORS) > 1 else 0)

    def test_processors_are_known_or_refused(self):
        def machine(vendor: str, family: int, model: int, flags: str = "fpu") -> str:
            return (f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: A {model}\n"
                    f"flags\t\t: {flags}\n\n")

        self.assertEqual(watch.Prefetchers.of_machine(machine("GenuineIntel", 6, 0x4F), self.devices).mask, 0xF)
        self.assertEqual(watch.Prefetchers.of_machine(machine("GenuineIntel", 6, 0x8F), self.devices).mask, 0x2F)
        for text, devices, words in ((machine("GenuineIntel", 6, 0x4F, "fpu hypervisor"), self.devices, "virtual machine"),
                                     (machine("GenuineIntel", 6, 0x5C), self.devices, "of A 92 are switched is not known"),  # an Atom
                                     (machine("GenuineIntel", 15, 0x4F), self.devices, "not known"),
                                     (machine("AuthenticAMD", 25, 0x4F), self.devices, "not known"),
                                     (machine("GenuineIntel", 6, 0x4F), self.folder / "none", "modprobe msr")):
            with self.assertRaisesRegex(Error, f"--prefetcher: .*{words}"):
                watch.Prefetchers.of_machine(text, devices)


class Refusals(Case):
    def test_what_this_machine_has_not_is_one_line(self):
        environment = {"RDAM_PYTHON": sys.executable}
        checks = {("--osnoise",): watch.Osnoise().check, ("--frequencies", "--spare", "1"): watch.Frequencies(0.01).check,
                  ("--prefetcher", "on,off"): lambda: watch.Prefetchers.of_machine(pathlib.Path("/proc/cpuinfo").read_text())}
        for options, check in checks.items():
            with self.subTest(options=options):
                with contextlib.suppress(Error):
                    check()
                    print(f"skipped: {options[0]} works on this machine", flush=True)
                    continue
                self.assert_one_line(self.rdam("study", "--runs", "3", *options, "true", env=environment), 1, options[0], "leave it out")
                self.assertFalse((self.folder / "study.jsonl").exists())
        self.assert_one_line(self.rdam("study", "--frequencies-every", "5ms", "true", env=environment), 2, "give --frequencies as well")
        self.assert_one_line(self.rdam("study", "--frequencies", "--frequencies-every", "0", "true", env=environment), 2, "from 0.001 to 3600")
        self.assert_one_line(self.rdam("study", "--prefetcher", "half", "true", env=environment), 2, "--prefetcher half")


if __name__ == "__main__":
    unittest.main()
