#!/usr/bin/python3
"""A debugger that is attached to a recorded program sees the true callers, and the program goes on."""

import os
import re
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, TIMEOUT, Case


class Debugger(Case):
    def stack_in_gdb(self, pid: int) -> list[str]:
        """Names of the frames, the innermost first."""
        done = self.run_in_folder("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", pid, "-ex", "bt", "-ex", "detach",
                                  env={"LC_ALL": "C"})
        said = done.stdout.decode() + done.stderr.decode()
        if "ptrace: Operation not permitted" in said:
            self.skipTest("this machine forbids ptrace: " + re.search(r".*ptrace: Operation not permitted.*", said).group(0))
        frames = re.findall(r"^#(\d+) +(?:0x[0-9a-f]+ in )?(\S+)", said, re.MULTILINE)
        self.assertEqual([int(number) for number, _ in frames], list(range(len(frames))), said)
        return [name for _, name in frames]

    def run_and_look(self, **variables) -> tuple[list[str], int, bytes]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        with subprocess.Popen([PROGRAMS / "halts"], cwd=self.folder, env={**clean, **variables}, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                first = process.stdout.readline()
                names = self.stack_in_gdb(process.pid)
                rest, _ = process.communicate(b"y", timeout=TIMEOUT)
            finally:
                process.kill()
        return names, process.returncode, first + rest

    def test_true_callers_through_real_frames(self):
        self.need("gdb")
        plain, status, output = self.run_and_look()
        own = [name for name in plain if name in ("inner", "middle", "outer", "main")]
        self.assertEqual(own, ["inner", "middle", "outer", "main"], plain)
        names, *end = self.run_and_look(LD_PRELOAD=LIBRDAM, RDAM_FUNCTIONS="inner,middle,outer,read")
        self.assertEqual(end, [status, output])
        # Nothing is missing, and nothing is there but what it is without the recorder, and the recorder's frames.
        self.assertEqual([name for name in names if not name.startswith("rdam_")], plain)
        self.assertGreaterEqual(sum(name.startswith("rdam_") for name in names), 3, names)
        self.assertEqual(self.counts(), {"inner": 1, "middle": 1, "outer": 1, "read": 1})


if __name__ == "__main__":
    unittest.main()
