#!/usr/bin/python3
"""rdam analyze of OTF2 archives: those of EZTrace against otf2-print, call by call; an exported one; and such as are damaged."""

import csv
import io
import os
import pathlib
import random
import re
import subprocess
import unittest

from harness import PROGRAMS, RDAM, TIMEOUT, Case

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NOBODY = 65534
EVENT = re.compile(r'(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*)" <\d+>')
ATTRIBUTE = re.compile(r'\("([^"]*)" <\d+>; UINT64; (\d+)\)')
SEND = re.compile(r'MPI_I?SEND +\d+ +\d+  Receiver: (\d+) .*, Communicator: .* <(\d+)>, Tag: (\d+), Length: (\d+)')
LOCATION = re.compile(r'LOCATION +(\d+)  Name: "(.*)" <\d+>, Type: CPU_THREAD')

LOCKS = """
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    for (int i = 0; i < 50; ++i) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
}
"""
MESSAGES = """
#include <mpi.h>
int main(int argc, char **argv) {
    double sent[100] = {0}, received[100];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 20; ++i) {
        if (rank == 0) MPI_Send(sent, 10 + i, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        else if (rank == 1) MPI_Recv(received, 10 + i, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(sent, received, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
"""

# As task-based runtimes (APEX/HPX) write it: two of three calls end as another region than they began as, one that nobody
# calls, and all times are multiples of a microsecond, though the clock counts nanoseconds. The same calls are on a CPU
# thread and on the stream of an accelerator. `poll` is a region that the user's source names.
WRITER = """
#include <otf2/otf2.h>
static OTF2_TimeStamp now;
static OTF2_TimeStamp tick(void) { return now += 1000; }
static OTF2_FlushType flush(void *u, OTF2_FileType f, OTF2_LocationRef l, void *c, bool e) { return OTF2_FLUSH; }
static OTF2_TimeStamp flushed(void *u, OTF2_FileType f, OTF2_LocationRef l) { return now; }
static OTF2_FlushCallbacks flushes = {.otf2_pre_flush = flush, .otf2_post_flush = flushed};
int main(void) {
    OTF2_Archive *a = OTF2_Archive_Open("archive", "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20, OTF2_SUBSTRATE_POSIX,
                                         OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(a, &flushes, 0);
    OTF2_Archive_SetSerialCollectiveCallbacks(a);
    OTF2_Archive_OpenEvtFiles(a);
    for (int location = 0; location < 2; ++location) {
        OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a, location);
        for (int i = 0; i < 300; ++i) {
            OTF2_EvtWriter_Enter(w, 0, tick(), 0);
            now += 20000 + (i % 10 == 0) * 40000;
            OTF2_EvtWriter_Leave(w, 0, tick(), i % 3 ? 1 : 0);
            OTF2_EvtWriter_Enter(w, 0, tick(), 2);
            OTF2_EvtWriter_Leave(w, 0, tick(), 2);
        }
        OTF2_Archive_CloseEvtWriter(a, w);
    }
    OTF2_Archive_CloseEvtFiles(a);
    OTF2_Archive_OpenDefFiles(a);
    for (int location = 0; location < 2; ++location)
        OTF2_Archive_CloseDefWriter(a, OTF2_Archive_GetDefWriter(a, location));
    OTF2_Archive_CloseDefFiles(a);
    OTF2_GlobalDefWriter *g = OTF2_Archive_GetGlobalDefWriter(a);
    OTF2_GlobalDefWriter_WriteClockProperties(g, 1000000000, 0, now, OTF2_UNDEFINED_TIMESTAMP);
    const char *strings[] = {"", "node", "eval", "eval_action", "poll", "process", "thread", "stream", "class"};
    for (int i = 0; i < 9; ++i) OTF2_GlobalDefWriter_WriteString(g, i, strings[i]);
    for (int i = 0; i < 3; ++i)
        OTF2_GlobalDefWriter_WriteRegion(g, i, 2 + i, 2 + i, 0, OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_USER, 0, 0, 0, 0);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 0, 1, 8, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteLocationGroup(g, 0, 5, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(g, 0, 6, OTF2_LOCATION_TYPE_CPU_THREAD, 1200, 0);
    OTF2_GlobalDefWriter_WriteLocation(g, 1, 7, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 1200, 0);
    OTF2_Archive_Close(a);
}
"""


class Printed:
    """The calls that otf2-print tells of, those that end, per location in the order of their begin."""

    def __init__(self, anchor: pathlib.Path):
        done = subprocess.run(["otf2-print", "-A", anchor], capture_output=True, timeout=TIMEOUT, check=True)
        lines = done.stdout.decode().splitlines()
        self.names = {int(m[1]): m[2] for m in filter(None, map(LOCATION.match, lines))}
        self.calls = {location: [] for location in self.names}
        stacks = {location: [] for location in self.names}
        last = None
        for line in lines:
            if m := EVENT.fullmatch(line):
                location, at = int(m[2]), int(m[3])
                if m[1] == "ENTER":
                    last = {"function": m[4], "begin": at, "end": None, "parameters": {}}
                    stacks[location].append(last)
                    self.calls[location].append(last)
                elif any(call["function"] == m[4] for call in stacks[location]):
                    while (call := stacks[location].pop())["function"] != m[4]:
                        pass
                    call["end"] = at
            elif "ADDITIONAL ATTRIBUTES" in line:
                last["parameters"] |= {name: int(value) for name, value in ATTRIBUTE.findall(line)}
            elif m := SEND.match(line):
                last["parameters"] |= dict(zip(("receiver", "communicator", "tag", "bytes_sent"), map(int, m.groups()), strict=True))


class Input(Case):
    def setUp(self):
        super().setUp()
        if b"otf2 (" not in self.rdam("export", "--help").stdout:
            self.skipTest("this rdam is built without OTF2 (libotf2-trace-dev)")

    def compile(self, compiler: str, source: str) -> pathlib.Path:
        (self.folder / "program.c").write_text(source)
        done = self.run_in_folder(compiler, "-O1", "-pthread", "-o", "program", "program.c")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return self.folder / "program"

    def archive_of_eztrace(self) -> pathlib.Path:
        """In traces/, or in a folder of the program's name there (EZTrace before 2.1.1)."""
        [anchor] = (self.folder / "traces").rglob("eztrace_log.otf2")
        return anchor.parent

    def assert_as_printed(self, archive: pathlib.Path) -> list[dict]:
        """All calls of the archive; their parameters must be there, but may be more."""
        [anchor] = archive.glob("*.otf2")
        printed = Printed(anchor)
        done = self.rdam("export", "--format", "csv", archive)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
        origin = min(call["begin"] for calls in printed.calls.values() for call in calls)
        names = [printed.names[location] for location in printed.calls if printed.calls[location]]
        self.assertEqual(sorted({row["thread_name"] for row in rows}), sorted(names))
        found = {}
        for row in rows:
            parameters = dict(each.split("=") for each in row["parameters"].split(", ") if each)
            found[(row["thread_name"], row["function"], int(row["begin_ns"]), int(row["end_ns"]))] = parameters
        for location, calls in printed.calls.items():
            for call in calls:
                if call["end"] is None:
                    continue
                parameters = found[(printed.names[location], call["function"], call["begin"] - origin, call["end"] - origin)]
                for name, value in call["parameters"].items():
                    self.assertEqual(int(parameters[name], 0), value, call)
        self.assertEqual(len(rows), sum(map(len, printed.calls.values())))
        return [call for calls in printed.calls.values() for call in calls]

    def test_threads_of_eztrace(self):
        self.need("eztrace", "otf2-print", "gcc")
        done = self.run_in_folder("eztrace", "-t", "pthread", "-o", "traces", self.compile("gcc", LOCKS))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        archive = self.archive_of_eztrace()
        calls = self.assert_as_printed(archive)
        self.assertGreaterEqual(sum("mutex" in call["parameters"] for call in calls), 300)
        report = self.analyze(archive)
        self.assertEqual(report["trace"]["recorder"], "EZTrace")
        counts = {each["name"]: each["occurrences"] for each in report["functions"]}
        self.assertEqual(counts["pthread_create"], 3)
        self.assertGreaterEqual(counts["pthread_mutex_lock"], 150)
        self.assertEqual(self.analyze(archive / "eztrace_log.otf2")["functions"], report["functions"])

    def test_ranks_of_eztrace(self):
        self.need("eztrace", "otf2-print", "mpicc", "mpirun")
        program = self.compile("mpicc", MESSAGES)
        done = self.run_in_folder("mpirun", "-n", "2", "--oversubscribe", "eztrace", "-t", "openmpi", "-o", "traces", program, env=MPI)
        if done.returncode != 0:
            self.skipTest("Open MPI cannot run here")
        archive = self.archive_of_eztrace()
        calls = self.assert_as_printed(archive)
        self.assertEqual(sorted(call["parameters"]["bytes_sent"] for call in calls if call["function"] == "MPI_Send"),
                         [8 * (10 + i) for i in range(20)])
        counts = {each["name"]: each["occurrences"] for each in self.analyze(archive)["functions"]}
        self.assertEqual((counts["MPI_Send"], counts["MPI_Recv"], counts["MPI_Allreduce"]), (20, 20, 40))

    def test_calls_that_are_renamed_while_they_run(self):
        self.need("gcc", "otf2-config")
        flags = subprocess.run(["otf2-config", "--cflags", "--ldflags", "--libs"], capture_output=True, check=True).stdout.decode()
        (self.folder / "writer.c").write_text(WRITER)
        done = self.run_in_folder("gcc", "-o", "writer", "writer.c", *flags.split())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(self.run_in_folder("./writer").returncode, 0)
        report = self.analyze("archive")
        functions = {each["name"]: each for each in report["functions"]}
        self.assertEqual((functions["eval"]["occurrences"], functions["eval"]["outermost"]), (600, 600))
        self.assertEqual((functions["eval"]["min_ns"], functions["eval"]["max_ns"]), (21_000, 61_000))
        self.assertNotIn("eval_action", functions)
        self.assertEqual({each["name"] for each in report["threads"]}, {"process: thread", "process: stream"})
        self.assertEqual(report["trace"]["clock_step_ns"], 1000)
        self.assertIn("400 calls end as other functions than they began as: they count as those that began.", report["trace"]["notes"])
        self.assertNotIn("by design", self.rdam("analyze", "archive").stdout.decode())

    def exported(self, *command, functions: str) -> tuple[dict, dict]:
        """The reports of a recording and of its archive."""
        done = self.rdam("record", "-o", "trace.bin", "-f", functions, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        done = self.rdam("export", "--format", "otf2", "-o", "archive", "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return self.analyze("trace.bin"), self.analyze("archive")

    def test_an_exported_archive(self):
        before, after = self.exported(PROGRAMS / "orders", "3", "5000", functions="serve,parse,store")

        def counts(report: dict) -> dict[str, int]:
            return {each["name"]: each["occurrences"] for each in report["functions"]}

        self.assertEqual(counts(before), counts(after))
        self.assertEqual(len(before["threads"]), len(after["threads"]))
        self.assertIn("rdam exported this file", self.rdam("analyze", "archive").stdout.decode())

    def test_a_damaged_archive(self):
        """Whatever bytes are wrong: a report, or one line; and nothing of the library's own words."""
        self.exported(PROGRAMS / "orders", "2", "500", functions="serve,parse,store")
        archive = self.folder / "archive"
        files = [path for path in archive.rglob("*") if path.is_file() and path.stat().st_size > 0]
        chance = random.Random(1)
        statuses = set()
        for _ in range(60):
            path = chance.choice(files)
            whole = path.read_bytes()
            damaged = bytearray(whole)
            for _ in range(chance.choice((1, 3, 50))):
                damaged[chance.randrange(min(len(damaged), 4000))] = chance.choice((0, 1, 5, 127, 255, chance.randrange(256)))
            path.write_bytes(damaged[:chance.choice((len(damaged), chance.randrange(len(damaged))))])
            done = self.rdam("analyze", archive / "traces.otf2")
            statuses.add(done.returncode)
            if done.returncode != 0:
                self.assert_one_line(done, 1, "archive")
            path.write_bytes(whole)
        self.assertEqual(statuses, {0, 1})
        self.assertEqual(self.rdam("analyze", archive).returncode, 0)

    def test_pipes_and_devices_instead_of_files(self):
        """The library would wait for ever."""
        self.exported(PROGRAMS / "orders", "1", "10", functions="serve")
        for path in [path for path in (self.folder / "archive").rglob("*") if path.is_file()]:
            whole = path.read_bytes()
            path.unlink()
            os.mkfifo(path)
            self.assert_one_line(self.rdam("analyze", "archive"), 1, path.name, "not a regular file")
            path.unlink()
            path.symlink_to("/dev/zero")
            self.assert_one_line(self.rdam("analyze", "archive"), 1, path.name, "not a regular file")
            path.unlink()
            path.write_bytes(whole)
        self.assertEqual(self.rdam("analyze", "archive").returncode, 0)

    def test_files_that_are_missing_or_not_to_be_read(self):
        """The library says neither which file it is nor what to do."""
        self.exported(PROGRAMS / "orders", "1", "10", functions="serve")
        reader = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if os.geteuid() == 0 else ()
        self.folder.chmod(0o755)
        readable = self.run_in_folder(*reader, RDAM, "analyze", "archive").returncode == 0
        for name in ("traces.def", "traces/0.evt"):
            path = self.folder / "archive" / name
            path.rename(self.folder / "away")
            self.assert_one_line(self.rdam("analyze", "archive"), 1, "has no archive/" + name, "copy the whole archive")
            (self.folder / "away").rename(path)
            path.chmod(0)
            if readable:
                self.assert_one_line(self.run_in_folder(*reader, RDAM, "analyze", "archive"), 1, name, "Permission denied", "check its permissions")
            path.chmod(0o644)
        self.assertEqual(self.rdam("analyze", "archive").returncode, 0)
        if not readable:
            self.skipTest("another user cannot run this rdam here")

    def test_garbage(self):
        (self.folder / "traces.otf2").write_bytes(b"\x03BOTF2\0" + bytes(range(256)))
        self.assert_one_line(self.rdam("analyze", "traces.otf2"), 1, "traces.otf2", "OTF2")
        (self.folder / "traces.otf2").write_bytes(b"nothing of the kind")
        self.assert_one_line(self.rdam("analyze", "traces.otf2"), 1, "traces.otf2")
        self.assert_one_line(self.rdam("analyze", self.folder), 1)


if __name__ == "__main__":
    unittest.main()
