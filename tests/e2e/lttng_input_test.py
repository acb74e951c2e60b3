#!/usr/bin/python3
"""Programs that LTTng records in this test, call by call against what babeltrace2 prints of them."""

import collections
import csv
import glob
import io
import os
import re
import subprocess
import time
import unittest

from harness import TIMEOUT, Case

PROGRAM = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) long inner(long n) { for (volatile int i = 0; i < 500; ++i) {} return n; }
__attribute__((noinline)) long outer(long n) {
    if (n == 3) usleep(3000);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return inner(n) + inner(-n);
}
static void* work(void* unused) { for (long i = 0; i < 40; ++i) outer(i); return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
"""


class Lttng(Case):
    def lttng(self, *arguments):
        done = self.run_in_folder("lttng", "--no-sessiond", *arguments, env={"LTTNG_HOME": str(self.folder)})
        if done.returncode != 0:
            self.skipTest(f"lttng {arguments[0]} does not work here: {(done.stderr.decode().strip().splitlines() or ['?'])[-1]}")

    def record(self):
        self.need("gcc", "lttng", "lttng-sessiond", "babeltrace2")
        wrappers = [path for name in ("cyg-profile", "pthread-wrapper") for path in glob.glob(f"/usr/lib/*/liblttng-ust-{name}.so.*")]
        if not wrappers:
            self.skipTest("liblttng-ust-cyg-profile.so is not installed (liblttng-ust1)")
        (self.folder / "app.c").write_text(PROGRAM)
        self.succeeded(self.run_in_folder("gcc", "-g", "-O1", "-finstrument-functions", "-pthread", "-o", "app", "app.c"))
        environment = {**os.environ, "LTTNG_HOME": str(self.folder)}
        # Where one runs already, this one ends at once, and that one is used.
        daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: daemon.poll() is None and (daemon.terminate(), daemon.wait(TIMEOUT)))
        name = f"rdam{os.getpid()}"
        for _ in range(100):
            if self.run_in_folder("lttng", "--no-sessiond", "list", env={"LTTNG_HOME": str(self.folder)}).returncode == 0:
                break
            time.sleep(0.1)
        self.lttng("create", name, f"--output={self.folder}/trace")
        self.addCleanup(self.run_in_folder, "lttng", "--no-sessiond", "destroy", name, env={"LTTNG_HOME": str(self.folder)})
        self.lttng("enable-event", "-u", "lttng_ust_cyg_profile*,lttng_ust_pthread*,lttng_ust_statedump*")
        self.lttng("add-context", "-u", "-t", "vtid", "-t", "vpid", "-t", "procname", "-t", "ip")
        self.lttng("start")
        done = self.run_in_folder("./app", env={"LD_PRELOAD": " ".join(wrappers), "LTTNG_HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.lttng("stop")
        self.lttng("destroy", name)

    def rows(self, path) -> list[dict]:
        done = self.succeeded(self.rdam("export", "--format", "csv", path))
        return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))

    def expected(self, text: str) -> collections.Counter:
        """By tid, function and duration: of functions by the stack, of locks by the event before."""
        calls, opened, wanted = collections.Counter(), {}, {}
        for line in text.splitlines():
            at = re.match(r"\[(\d+)\.(\d{9})\]", line)
            tid = re.search(r"vtid = (\d+)", line)
            if not at or not tid:
                continue
            time_of, tid = int(at[1]) * 10**9 + int(at[2]), tid[1]
            if "func_entry" in line:
                opened.setdefault(tid, []).append((re.search(r'func = "(\w+)\+', line)[1], time_of))
            elif "func_exit" in line and opened.get(tid):
                function, begin = opened[tid].pop()
                calls[tid, function, time_of - begin] += 1
            elif "mutex_lock_req" in line:
                wanted[tid] = time_of
            elif "mutex_lock_acq" in line and tid in wanted:
                calls[tid, "pthread_mutex_lock", time_of - wanted.pop(tid)] += 1
        return calls

    def test_functions_and_locks(self):
        self.record()
        text = self.succeeded(self.run_in_folder("babeltrace2", "--clock-seconds", "--no-delta", "--debug-info", "trace")).stdout.decode()
        expected = self.expected(text)
        self.assertEqual(sum(expected[call] for call in expected if call[1] == "inner"), 160)
        (self.folder / "text").write_text(text)
        for path in ("trace", "text"):
            got = collections.Counter((row["tid"] if "tid" in row else row["thread"], row["function"], int(row["end_ns"]) - int(row["begin_ns"]))
                                      for row in self.rows(path))
            self.assertEqual(got, expected)
        locked = [row for row in self.rows("trace") if row["function"] == "pthread_mutex_lock"]
        self.assertTrue(all(re.fullmatch("mutex=0x[0-9a-f]+", row["parameters"]) and row["result"] == "0" for row in locked))

        done = self.rdam("analyze", "trace", env={"PATH": "/nowhere"})
        self.assert_one_line(done, 1, "trace", "install the package babeltrace2")
        for name, size in (("channel0_0", 5000), ("metadata", 300), ("metadata", 5000)):
            self.succeeded(self.run_in_folder("cp", "-r", "trace", f"cut{size}{name}"))
            for file in (self.folder / f"cut{size}{name}").rglob(name):
                os.truncate(file, size)
            self.assert_one_line(self.rdam("analyze", f"cut{size}{name}"), 1, f"cut{size}{name}")


if __name__ == "__main__":
    unittest.main()
