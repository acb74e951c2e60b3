#!/usr/bin/python3
"""What rdam study sees of the machine around each run."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from harness import Case
from pythons import MODULE

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

from rdam.study import native, runs  # noqa: E402

RUNNER = native.find(runs.RUNNER)
PROCESSORS = sorted(os.sched_getaffinity(0))


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


if __name__ == "__main__":
    unittest.main()
