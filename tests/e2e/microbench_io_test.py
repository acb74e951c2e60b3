#!/usr/bin/python3
"""rdam-microbench io: reads come from the disk, each thread's from a place of its own, and the delay leaves the processors to others."""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import time
import unittest

from harness import TIMEOUT
from microbench_options_test import MICROBENCH, Options

MIB = 1 << 20
BLOCK = 512


def flags_of(process: int, link: str) -> list[int]:
    """Of the files which a process has open and whose names `link` describes."""
    flags = []
    with contextlib.suppress(FileNotFoundError):  # closed in the meantime
        for file in pathlib.Path(f"/proc/{process}/fd").iterdir():
            if re.fullmatch(link, os.readlink(file)):
                flags.append(int(re.search(r"flags:\s*([0-7]+)", pathlib.Path(f"/proc/{process}/fdinfo/{file.name}").read_text())[1], 8))
    return flags


class Io(Options):
    def point(self, *arguments) -> dict:
        done = self.succeeded(self.run_in_folder(MICROBENCH, "io", *arguments))
        return json.loads(done.stdout)

    def check_direct(self, link: str, *options):
        """As long as it reads, three files are open that are past the page cache."""
        command = [MICROBENCH, "io", "--threads", "3", "--delay", "1ms", "--iterations", "1000000000", *options]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
            try:
                end = time.monotonic() + TIMEOUT
                while len(flags := flags_of(program.pid, link)) < 3:
                    self.assertIsNone(program.poll(), "it ended")
                    self.assertLess(time.monotonic(), end, "its files were never all open")
                self.assertEqual([one & os.O_DIRECT for one in flags], [os.O_DIRECT] * 3)
                self.assertEqual([one & os.O_ACCMODE for one in flags], [os.O_RDONLY] * 3)
            finally:
                program.kill()

    def test_files_are_read_past_the_page_cache(self):
        self.check_direct(re.escape(str(self.folder.resolve())) + r"/rdam-microbench-io-\w+ \(deleted\)")

    def test_delay_sleeps(self):
        """Eighty delays of 50 ms on average: four seconds, of which next to nothing is computed. They are drawn, the same ones in each run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        point = self.point("--threads", 4, "--iterations", 20, "--delay", "50ms")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertGreater(point["seconds"], 0.5, "of four threads, each of which sleeps for a second")
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 0.4)

    def check_places(self, begins: list[int], *options):
        """Each thread reads block after block."""
        trace = self.traced("read_block", "io", "--threads", len(begins), "--iterations", 40, "--delay", "0ns", *options)
        offsets = self.given(trace, "read_block", "offset", len(begins))
        self.assertEqual(sorted(offsets), [[begin + BLOCK * i for i in range(40)] for begin in begins])
        self.assertEqual(len(set(self.places(trace, "read_block", "file", len(begins)))), len(begins))

    def test_each_thread_reads_its_own_file(self):
        self.check_places([0, 0, 0])

    def device(self, mebibytes: int) -> str:
        if shutil.which("losetup") is None or os.geteuid() != 0:
            self.skipTest("a block device needs losetup, and root to call it")
        with open(self.folder / "content", "wb") as content:
            content.truncate(mebibytes * MIB)
        done = self.run_in_folder("losetup", "--find", "--show", "--read-only", "content")
        if done.returncode != 0:
            self.skipTest(f"no loop device here: {done.stderr.decode().strip()}")
        name = done.stdout.decode().strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", name], check=True)
        return name

    def test_block_device(self):
        device = self.device(3)
        self.check_places([0, MIB, 2 * MIB], "--path", device)
        self.check_direct(re.escape(device), "--path", device)

    def test_block_device_with_too_little_room(self):
        device = self.device(3)
        done = self.run_in_folder(MICROBENCH, "io", "--path", device, "--threads", 4)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertRegex(done.stderr.decode(), rf"\Ardam-microbench: io: '{device}' has less than 1 MiB for each thread; [^\n]*--threads\n\Z")


if __name__ == "__main__":
    unittest.main()
