#!/usr/bin/python3
"""The path of an event: no page fault, no system call, no lock, no vector register, between two changes of chunk."""

import json
import os
import re
import statistics
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, Case

QUIET = PROGRAMS / "quiet"
FUNCTIONS = ("plain", "three", "shadow")
WARM_UP = 50
IN_ONE_CHUNK = 700  # of at most 72 bytes each, the warm-up included
CHUNK = 0x10000 - 0x2000 - 64


class Counted(Case):
    def quiet(self, function: str, calls: int, threads: int, prefix=(), **variables) -> list[int]:
        (self.folder / "trace.bin").unlink(missing_ok=True)
        done = self.run_in_folder(*prefix, "env", f"LD_PRELOAD={LIBRDAM}", QUIET, function, str(WARM_UP), str(calls), str(threads),
                                  env={"RDAM_FUNCTIONS": ",".join(FUNCTIONS), "RDAM_STACK_PERIOD": "0", **variables})
        # On a busy machine it may take so long to write the trace that this is said.
        said = re.sub(rb"rdam: writing the trace: \d+ % of \d+ MB\n", b"", done.stderr)
        self.assertEqual((done.returncode, said), (0, b""))
        self.assertEqual(self.counts(), {function: threads * (WARM_UP + calls)})
        return [int(line) for line in done.stdout.split()]

    def test_page_faults(self):
        for clock in ("rdtscp", "unfenced", "rdtsc"):
            for function in FUNCTIONS:
                with self.subTest((clock, function)):
                    # Each thread has a chunk of its own. The kernel may take a page away from anybody, but not from
                    # most of them.
                    faults = self.quiet(function, IN_ONE_CHUNK, 21, RDAM_CLOCK=clock)
                    self.assertEqual(statistics.median(faults), 0, faults)

    def test_page_faults_would_be_seen(self):
        done = self.run_in_folder(QUIET, "touch", "50", "0", "1")
        self.assertGreaterEqual(int(done.stdout), 50)

    def system_calls(self, function: str, calls: int, **variables) -> list[str]:
        """Those that a thread makes during its calls."""
        self.need("strace")
        log = self.folder / "strace.log"
        self.quiet(function, calls, 1, prefix=("strace", "-f", "-o", log), **variables)
        names = re.findall(r"^(?:\d+ +)?(\w+)\(", log.read_text(), re.MULTILINE)
        return names[names.index("getppid") + 1:names.index("getpgrp")]

    def test_no_system_call(self):
        for clock in ("rdtscp", "unfenced", "rdtsc"):
            for function in FUNCTIONS:
                with self.subTest((clock, function)):
                    self.assertEqual(self.system_calls(function, IN_ONE_CHUNK, RDAM_CLOCK=clock), [])

    def test_chunks_are_not_changed_under_a_lock(self):
        functions = "pthread_mutex_lock,pthread_mutex_unlock"
        done = self.run_in_folder("env", f"LD_PRELOAD={LIBRDAM}", QUIET, "lock", "0", "20000", "1",
                                  env={"RDAM_FUNCTIONS": functions, "RDAM_STACK_PERIOD": "0"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        pauses = json.loads(subprocess.run([os.environ["TRACE_PAUSES"], self.folder / "trace.bin"], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual(list(pauses["new_chunk"]["behind"]), ["end of pthread_mutex_unlock"])
        self.assertGreater(pauses["new_chunk"]["behind"]["end of pthread_mutex_unlock"], 10)

    OF_A_CHUNK = {"rt_sigprocmask", "mmap", "mprotect", "madvise", "futex"}

    def test_system_calls_of_a_chunk(self):
        calls = 100_000
        made = self.system_calls("plain", calls)
        changes = calls * (24 + 16) // CHUNK
        self.assertLessEqual(set(made), self.OF_A_CHUNK)
        # Signals blocked and let through; once, room to pack in; the pages of a chunk that is new, made accessible and put in place;
        # the agent woken if it sleeps. The slack is for chunks that the warm-up has begun.
        self.assertLessEqual(made.count("mmap"), 1)
        self.assertLessEqual(abs(made.count("rt_sigprocmask") - 2 * changes), 2)
        self.assertLessEqual(made.count("madvise"), changes + 1)
        self.assertEqual(made.count("mprotect"), made.count("madvise"))
        self.assertLessEqual(made.count("futex"), changes + 1)

    def test_clock_of_the_kernel(self):
        # The control: there each time-stamp is a system call.
        made = self.system_calls("plain", 100, RDAM_CLOCK="monotonic")
        # Where the warm-up has begun a chunk that is full meanwhile, its change is among them, with at most two time-stamps of its own.
        changes = made.count("rt_sigprocmask") // 2
        self.assertLessEqual(changes, 1)
        self.assertIn(made.count("clock_gettime") - 200, range(2 * changes + 1))
        self.assertLessEqual(set(made), {"clock_gettime"} | (self.OF_A_CHUNK if changes else set()))


class Code(unittest.TestCase):
    """The straight path of the trampolines as it was assembled: every conditional jump falls through."""

    # By trampoline: how it reads the clock.
    CLOCKS = {"rdtscp": "rdtscp", "unfenced": "rdtscp", "rdtsc": "rdtsc", "rdpid": "rdtsc"}
    MAY = {"push", "pop", "mov", "movq", "movl", "movzwl", "movabs", "lea", "add", "sub", "and", "or", "xor", "shl", "shr", "inc", "imul", "test",
           "cmp", "cmpb", "cmpq", "bt", "decq", "xadd", "call", "leave", "ret", "lahf", "seto", "sahf"}

    @classmethod
    def setUpClass(cls):
        done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", LIBRDAM], check=True, text=True, stdout=subprocess.PIPE)
        cls.functions: dict[str, list[tuple[int, str, str]]] = {}
        name = ""
        for line in done.stdout.splitlines():
            if label := re.fullmatch(r"[0-9a-f]+ <(.+)>:", line):
                name = label[1]
                cls.functions[name] = []
            elif instruction := re.fullmatch(r" *([0-9a-f]+):\t(.+?)", line):
                operation, _, operands = instruction[2].split("#")[0].strip().partition(" ")
                cls.functions[name].append((int(instruction[1], 16), operation, operands.strip()))

    def straight_path(self, function: str) -> list[tuple[str, str]]:
        path = []
        for _, operation, operands in self.functions[function]:
            path.append((operation, operands))
            if operation in ("ret", "jmp"):
                return path
        return self.fail(f"{function} does not return")

    def path_of(self, frame: str, variant: str) -> list[tuple[str, str]]:
        path = self.straight_path(f"rdam_enter_{frame}_{variant}")
        if frame == "stack":
            return path
        # To a pad, whose address stands below the return address, and back from it.
        self.assertEqual(path.pop(), ("jmp", "*-0x10(%rsp)"))
        pad = [(operation, operands) for _, operation, operands in self.functions["rdam_pads"][:3]]
        self.assertEqual([operation for operation, _ in pad], ["call", "push", "jmp"], pad)
        return path + pad[:2] + self.straight_path(f"rdam_leave_{frame}_{variant}")

    def check(self, frame: str, clock: str, most: int, kind: str = ""):
        path = self.path_of(frame, f"{clock}{kind}")
        text = "\n".join(f"{operation} {operands}" for operation, operands in path)
        read = self.CLOCKS[clock]
        operations = [operation for operation, _ in path]
        self.assertEqual([line for line in path if line[0] == read], [(read, "")] * 2, text)
        # The fence stands between the first reading and the function, and the rest of the probe before it.
        fences = [operations[at + 1] for at, operation in enumerate(operations) if operation == "lfence"]
        self.assertEqual(fences, ["call"] if clock == "rdtscp" else [], text)
        self.assertEqual(operations.count("rdpid"), 2 if clock == "rdpid" else 0, text)
        self.assertEqual([line for line in path if line[0] == "ret"], [("ret", "")], text)
        calls = [operands for operation, operands in path if operation == "call"]
        counter = [call for call in calls if call.endswith("<rdam_read_counter>")]
        self.assertEqual(len(counter), 2 if kind == "_count" else 0, text)
        calls = [call for call in calls if call not in counter]
        self.assertEqual(len(calls), 1, text)
        self.assertRegex(calls[0], r"^\*-?0x[0-9a-f]+\(%r[bi]p\)$", "only the wrapped function itself is called")
        others = set(operations) - self.MAY - {read, "lfence", "rdpid"}
        self.assertEqual({operation for operation in others if not re.fullmatch("j[a-z]+", operation)}, set(), text)
        for operation, operands in path:
            self.assertNotRegex(operands, "[xyz]mm", f"{operation} {operands}")
            self.assertNotEqual(operation, "jmp")
        # Two event records, each reserved by one instruction that needs no lock: it is the thread's own word.
        self.assertEqual([operands.rpartition(",")[2].startswith("%fs:") for operation, operands in path if operation == "xadd"], [True] * 2, text)
        self.assertLessEqual(len(path), most, text)

    def test_stack_frame(self):
        for clock in self.CLOCKS:
            self.check("stack", clock, 86)

    def test_shadow_frame(self):
        for clock in self.CLOCKS:
            self.check("shadow", clock, 130)

    def test_counting_instructions(self):
        for clock in self.CLOCKS:
            self.check("stack", clock, 106, "_count")
            self.check("shadow", clock, 150, "_count")

    def test_the_counter_is_read_in_one_place(self):
        """… which is only called where it is wanted: on a machine without counters its instruction ends the program."""
        readers = {name for name, function in self.functions.items() for _, operation, _ in function if operation == "rdpmc"}
        self.assertEqual(readers, {"rdam_read_counter"})
        path = self.straight_path("rdam_read_counter")
        operations = {operation for operation, _ in path}
        self.assertEqual(operations - self.MAY - {"rdpmc", "lfence", "testb", "neg", "sar", "je", "jb", "jne"}, set())
        self.assertLessEqual(len(path), 45)

    def test_a_lock_would_be_seen(self):
        # Elsewhere the recorder does lock and call: objdump says so.
        everything = {operation for function in self.functions.values() for _, operation, _ in function}
        self.assertTrue({"lock", "syscall"} <= everything, everything)


if __name__ == "__main__":
    unittest.main()
