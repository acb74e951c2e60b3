#!/usr/bin/python3
"""A plan from an earlier run is used again, and only while everything it was made from is as it was."""

import os
import shutil
import stat
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, Case

COUNTS = {"work": 3000, "step": 9000}
EXIT_STATUS = 7
MEMORY_LIMIT = 16 << 20


class Cached(Case):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        shutil.copy2(PROGRAMS / "counts", self.folder / "counts")

    def plans(self) -> dict[str, tuple[int, int]]:
        """The plans in the cache; what is written anew has another inode."""
        found = self.cache.glob("*.plan") if self.cache.is_dir() else []
        return {path.name: (path.stat().st_ino, path.stat().st_size) for path in found}

    def record(self, functions="work,step", cache=None, **variables) -> tuple[dict[str, int], str]:
        """Counts and messages of one run, with no trace there before it: replacing one is said."""
        (self.folder / "trace.bin").unlink(missing_ok=True)
        done = self.preload(functions, self.folder / "counts", "3", "1000", "exit", RDAM_VERBOSE="1",
                            RDAM_CACHE=str(self.cache if cache is None else cache), **variables)
        self.assertEqual(done.returncode, EXIT_STATUS, done.stderr.decode())
        return self.counts(), done.stderr.decode()

    def description(self) -> list:
        """All that the trace knows of its functions, apart from what was measured."""
        functions = self.analyze()["functions"]
        return sorted([f["name"], f["module"], f["occurrences"]] for f in functions)

    def test_second_run_is_as_the_first_and_as_without_cache(self):
        runs = []
        for cache in ("0", "", None, None):
            runs.append((*self.record(cache=cache), self.description()))
        self.assertEqual(runs[0][0], COUNTS)
        for run in runs[1:]:
            self.assertEqual(run, runs[0])
        self.assertEqual(len(self.plans()), 1)

    def test_second_run_reads_what_the_first_wrote(self):
        self.record()
        before = self.plans()
        self.record()
        self.assertEqual(self.plans(), before)

    def test_folder_is_for_its_owner_alone(self):
        self.record(cache=self.cache / "deep")
        for folder in (self.cache, self.cache / "deep"):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        for plan in (self.cache / "deep").iterdir():
            self.assertEqual(stat.S_IMODE(plan.stat().st_mode), 0o600)
            self.assertTrue(plan.name.endswith((".plan", ".measured")) or plan.name == "said", plan.name)

    def test_home_and_xdg_cache_home(self):
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("RDAM_", "XDG_"))}
        for given, expected in (({"HOME": "h"}, None), ({"HOME": str(self.folder / "home")}, "home/.cache/rdam"),
                                ({"HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "xdg")}, "xdg/rdam")):
            with self.subTest(given):
                (self.folder / "home").mkdir(exist_ok=True)
                subprocess.run([self.folder / "counts", "1", "10"], cwd=self.folder, check=False, stdout=subprocess.DEVNULL,
                               env={**variables, **given, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work"})
                kept = [str(path.parent.relative_to(self.folder)) for path in self.folder.rglob("*.plan")]
                self.assertEqual(kept, [expected] if expected else [])
                shutil.rmtree(self.folder / "home")

    def test_stripped_program(self):
        self.need("strip")
        self.record()
        build_id = self.build_id()
        subprocess.run(["strip", self.folder / "counts"], check=True)
        self.assertEqual(self.build_id(), build_id)
        (self.folder / "trace.bin").unlink()
        done = self.preload("work,step", self.folder / "counts", "3", "1000", "exit", RDAM_CACHE=str(self.cache))
        self.assertIn("'work': not found", done.stderr.decode())
        self.assertEqual(self.traces(), [])

    def build_id(self) -> str:
        notes = subprocess.run(["readelf", "-n", self.folder / "counts"], check=True, stdout=subprocess.PIPE).stdout.decode()
        return notes.split("Build ID: ")[1].split()[0]

    def test_debug_file_that_comes_and_goes(self):
        self.need("strip", "objcopy")
        program, debug = self.folder / "counts", self.folder / "counts.debug"
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        subprocess.run(["strip", "-g", "-s", program], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], check=True)
        with_debug, _ = self.record()
        debug.rename(self.folder / "elsewhere")
        (self.folder / "trace.bin").unlink()
        self.preload("work,step", program, "3", "1000", "exit", RDAM_CACHE=str(self.cache))
        self.assertEqual(self.traces(), [])
        (self.folder / "elsewhere").rename(debug)
        again, _ = self.record()
        self.assertEqual(again, with_debug)

    def test_another_list(self):
        both, _ = self.record("work,step")
        one, _ = self.record("work")
        self.assertEqual(one, {"work": both["work"]})
        self.assertEqual(len(self.plans()), 2)

    def test_without_arguments(self):
        self.record("write")
        first = self.plans()
        self.record("write", RDAM_ARGS="0")
        self.assertEqual(len(self.plans()), len(first) + 1)

    def test_ifunc_of_another_processor(self):
        """glibc chooses other implementations when told that the processor can do less."""
        chosen = []
        for tunables in ("", "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2_Usable,-AVX2,-AVX_Fast_Unaligned_Load", ""):
            done = self.preload("memcpy,strlen", self.folder / "counts", "1", "10", "exit", RDAM_VERBOSE="1",
                                RDAM_CACHE=str(self.cache), GLIBC_TUNABLES=tunables)
            # Where something calls them there is one, and replacing it is said.
            (self.folder / "trace.bin").unlink(missing_ok=True)
            cold = self.preload("memcpy,strlen", self.folder / "counts", "1", "10", "exit", RDAM_VERBOSE="1",
                                RDAM_CACHE="0", GLIBC_TUNABLES=tunables)
            (self.folder / "trace.bin").unlink(missing_ok=True)
            self.assertEqual(done.stderr, cold.stderr)
            self.assertIn(b"'strlen': wrapped", done.stderr)
            chosen.append(done.stderr)
        self.assertEqual(chosen[0], chosen[2])

    def test_damaged_plan(self):
        counts, said = self.record()
        (plan,) = self.cache.glob("*.plan")
        good = plan.read_bytes()
        for damaged in (b"", good[:16], good[:-1], good[:200] + bytes([good[200] ^ 1]) + good[201:], b"\0" * len(good), good + b"x"):
            plan.write_bytes(damaged)
            self.assertEqual(self.record(), (counts, said))
            self.assertEqual(len(plan.read_bytes()), len(good))

    def test_plan_that_others_could_have_written(self):
        self.record()
        (plan,) = self.cache.glob("*.plan")
        first = plan.stat().st_ino
        plan.chmod(0o622)
        self.record()
        self.assertNotEqual(plan.stat().st_ino, first)
        self.assertEqual(stat.S_IMODE(plan.stat().st_mode), 0o600)
        plan.unlink()
        self.cache.chmod(0o777)
        self.record()
        self.assertEqual(self.plans(), {})

    def test_folder_that_cannot_be(self):
        (self.folder / "file").write_text("")
        expected = self.record(cache="0")
        for impossible in (self.folder / "file", self.folder / "file/below", "/proc/rdam"):
            self.assertEqual(self.record(cache=impossible), expected)

    def test_library_loaded_later(self):
        runs = []
        for _ in range(2):
            (self.folder / "trace.bin").unlink(missing_ok=True)
            done = self.preload("libplugin.so:*", PROGRAMS / "loads", PROGRAMS / "libplugin.so", "5",
                                RDAM_CACHE=str(self.cache), RDAM_VERBOSE="1")
            self.assertIn("loaded later", done.stderr.decode())
            runs.append((done.stderr, self.counts(), self.plans()))
        self.assertEqual(runs[1], runs[0])
        self.assertGreaterEqual(len(self.plans()), 2)


class Memory(Case):
    """What the recorder takes in a program, without the buffers that it shares with the agent."""

    def private_bytes(self, **variables) -> int:
        program = self.folder / "threads.py"
        program.write_text("import threading\nstay = threading.Event()\n"
                           "threads = [threading.Thread(target=stay.wait) for _ in range(20)]\n"
                           "for t in threads: t.start()\n"
                           "print(open('/proc/self/smaps').read())\nstay.set()\n")
        done = self.run_in_folder("python3", program, env=variables)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return private_bytes(done.stdout.decode())

    def test_own_memory(self):
        plain = self.private_bytes()
        # Some eight hundred functions of libc, and twenty threads.
        recorded = self.private_bytes(LD_PRELOAD=LIBRDAM, RDAM_FUNCTIONS="libc.so.6:[a-m]*")
        self.assertGreater(len(self.counts()), 5)
        self.assertGreater(recorded, plain)
        self.assertLess(recorded - plain, MEMORY_LIMIT)


def private_bytes(smaps: str) -> int:
    total, counts = 0, False
    for line in smaps.splitlines():
        words = line.split()
        if words and "-" in words[0] and not words[0].endswith(":"):
            counts = len(words) < 6 or not words[5].startswith("/memfd:rdam")
        elif counts and words and words[0] in ("Private_Dirty:", "Private_Clean:"):
            total += int(words[1]) * 1024
    return total


if __name__ == "__main__":
    unittest.main()
