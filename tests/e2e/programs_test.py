#!/usr/bin/python3
"""Well-known programs with twenty and more functions wrapped: they do and say what they do without rdam."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

from harness import LIBRDAM, Case

# What the recorder itself could call, and what programs call most.
LIBC = ("malloc,free,calloc,realloc,memcpy,memmove,memset,memcmp,memchr,strlen,strcmp,strncmp,strchr,strrchr,write,read,open,close,"
        "mmap,munmap,mprotect,madvise,brk,lseek,fstat,stat,pthread_mutex_lock,pthread_mutex_unlock,pthread_cond_wait,pthread_cond_signal,"
        "clock_gettime,gettimeofday,nanosleep,poll,select,epoll_wait,sigaction,sigprocmask,getpid,qsort,snprintf,printf,fwrite,fputs")


class Programs(Case):
    def record(self, functions: str, *command, **options):
        return self.rdam("record", "-f", functions, "--", *command, **options)

    def compare(self, functions: str, *command, **options) -> dict[str, int]:
        """The same status and output; the counts of the trace of the command itself."""
        plain = self.run_in_folder(*command, **options)
        done = self.record(functions, *command, **options)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr.decode()[-2000:])
        wrapped = re.search(r"rdam: (\d+) functions wrapped", done.stderr.decode())
        self.assertIsNotNone(wrapped, done.stderr.decode())
        self.assertGreaterEqual(int(wrapped.group(1)), 20)
        report = self.analyze()
        self.assertEqual(report["trace"]["dropped"], 0)
        return {f["name"]: f["occurrences"] for f in report["functions"]}

    def make_input(self) -> str:
        (self.folder / "input").write_bytes(bytes(i * i % 251 ^ (i >> 7) & 63 for i in range(3_000_000)))
        return "input"

    def test_xz(self):
        self.need("xz")
        functions = LIBC + ",lzma_code,lzma_stream_encoder_mt,lzma_stream_decoder_mt,lzma_end,lzma_crc64"
        counts = self.compare(functions, "xz", "-2", "-T2", "--block-size=500000", "-c", self.make_input())
        self.assertGreater(counts["lzma_code"], 10)
        with open(self.folder / "input.xz", "wb") as packed:
            subprocess.run(["xz", "-2", "-T2", "--block-size=500000", "-c", "input"], cwd=self.folder, stdout=packed, check=True)
        self.compare(functions, "xz", "-T2", "-dc", "input.xz")

    def test_sqlite3(self):
        self.need("sqlite3")
        rows = 3000
        script = (f"create table t(a integer primary key, b text, c real); with recursive n(i) as (select 1 union all select i + 1 from n "
                  f"where i < {rows}) insert into t select i, 'row ' || (i * 7919 % 1009), i * 0.5 from n; create index x on t(b);\n"
                  "select count(*), sum(a), total(c), min(b), max(b) from t;\n"
                  "select b, count(*) from t group by b order by 2 desc, 1 limit 20;\n"
                  "begin; delete from t where a % 3 = 0; rollback; pragma integrity_check; vacuum; select sum(a) from t;\n")
        counts = self.compare(LIBC + ",sqlite3_step,sqlite3_prepare_v2,sqlite3_finalize,sqlite3_malloc,sqlite3_free,sqlite3_column_text",
                              "sqlite3", ":memory:", script)
        self.assertGreater(counts["sqlite3_step"], 20)
        self.assertGreaterEqual(counts["sqlite3_finalize"], counts["sqlite3_prepare_v2"])

    def test_python_regression_tests(self):
        if not os.path.exists("/usr/lib/python3.11/test/test_json"):
            self.skipTest("Python's own tests (libpython3.11-testsuite) are not installed")
        modules = ["test_bisect", "test_heapq", "test_struct", "test_generators", "test_threading_local", "test_queue"]
        done = self.record(LIBC + ",PyObject_Call,PyDict_GetItem,PyList_Append,_PyEval_EvalFrameDefault,PyErr_SetObject,"
                           "PyEval_RestoreThread,PyEval_SaveThread", "/usr/bin/python3", "-m", "test", "-v", *modules,
                           env={"PYTHONDONTWRITEBYTECODE": "1"})
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, text[-2000:] + done.stderr.decode()[-2000:])
        self.assertIn(f"All {len(modules)} tests OK.", text)
        self.assertGreater(self.counts()["PyObject_Call"], 100)

    def test_gcc(self):
        self.need("gcc")
        (self.folder / "source.c").write_text("".join(
            f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; ++i) s = s * 31 + (a[i] ^ {i}); return s; }}\n" for i in range(150)))
        subprocess.run(["gcc", "-O2", "-c", "-o", "plain.o", "source.c"], cwd=self.folder, check=True)
        done = self.record(LIBC, "gcc", "-O2", "-c", "-o", "recorded.o", "source.c")
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        self.assertEqual((self.folder / "plain.o").read_bytes(), (self.folder / "recorded.o").read_bytes())
        # gcc itself, cc1 and the assembler have traces of their own.
        self.assertGreaterEqual(len(self.traces()), 3)
        self.assertGreater(max(self.counts(trace).get("malloc", 0) for trace in self.traces()), 1000)


class Servers(Case):
    """Servers that listen on sockets in the test's folder."""

    @contextlib.contextmanager
    def server(self, functions: str, socket: pathlib.Path, *command):
        with subprocess.Popen([str(word) for word in command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions, "RDAM_BUFFER": "256M"}) as process:
            try:
                deadline = time.monotonic() + 60
                while not socket.exists() and process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.05)
                yield process
                process.terminate()
                process.wait(60)
            finally:
                process.kill()

    def test_redis(self):
        self.need("redis-check-rdb", "redis-benchmark", "redis-cli")
        # Debian has one program for both: its name tells it what to be.
        server = self.folder / "redis-server"
        server.symlink_to(shutil.which("redis-check-rdb"))
        socket = self.folder / "redis.sock"
        functions = LIBC + ",recv,send,writev,accept,accept4,je_malloc,je_free,getaddrinfo"
        requests = 20_000
        with self.server(functions, socket, server, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no") as process:
            load = self.run_in_folder("redis-benchmark", "-s", socket, "-n", requests, "-c", "20", "-t", "set,get", "-q")
            self.assertEqual(load.returncode, 0, load.stderr.decode())
            told = self.run_in_folder("redis-cli", "-s", socket, "info", "commandstats").stdout.decode()
            process.terminate()
            process.wait(60)
        self.assertEqual(process.returncode, 0)
        calls = dict(re.findall(r"cmdstat_(\w+):calls=(\d+)", told))
        self.assertEqual((int(calls["set"]), int(calls["get"])), (requests, requests))
        counts = self.counts()
        # One read for each request at least: no pipelining.
        self.assertGreaterEqual(counts["read"], 2 * requests)
        self.assertGreaterEqual(counts["write"], 2 * requests)

    def test_memcached(self):
        self.need("memcached", "memcslap")
        socket = self.folder / "memcached.sock"
        requests = 5_000
        with self.server(LIBC + ",sendmsg,event_base_loop,recvmsg,accept4", socket, "memcached", "-u", "root", "-t", "2", "-s", socket) as process:
            load = self.run_in_folder("memcslap", "--servers", socket, "--execute-number", requests, "--concurrency", "2", "--test", "set")
            self.assertEqual(load.returncode, 0, load.stderr.decode())
            process.terminate()
            process.wait(60)
        self.assertEqual(process.returncode, 0)
        self.assertGreaterEqual(self.counts()["sendmsg"], 2 * requests)


if __name__ == "__main__":
    unittest.main()
