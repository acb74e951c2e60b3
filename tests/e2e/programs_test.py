#!/usr/bin/python3
"""Well-known programs with twenty and more functions wrapped: they do and say what they do without rdam."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest

from harness import LIBRDAM, Case

# What the recorder itself could call, and what programs call most.
LIBC = ("malloc,free,calloc,realloc,memcpy,memmove,memset,memcmp,memchr,strlen,strcmp,strncmp,strchr,strrchr,write,read,open,close,"
        "mmap,munmap,mprotect,madvise,brk,lseek,fstat,stat,pthread_mutex_lock,pthread_mutex_unlock,pthread_cond_wait,pthread_cond_signal,"
        "clock_gettime,gettimeofday,nanosleep,poll,select,epoll_wait,sigaction,sigprocmask,getpid,qsort,snprintf,printf,fwrite,fputs")



class Recorded(Case):
    def wrapped_calls(self, trace: str = "trace.bin") -> dict[str, int]:
        """Calls of each function, as `module:name`, in a trace with twenty functions or more of which nothing was lost."""
        report = self.analyze(trace)
        self.assertEqual(report["trace"]["dropped"], 0)
        self.assertGreaterEqual(len(report["functions"]), 20)
        counts: dict[str, int] = {}
        for function in report["functions"]:
            name = f"{function['module']}:{function['name']}"
            counts[name] = counts.get(name, 0) + function["occurrences"]
        return counts


class Programs(Recorded):
    def compare(self, functions: str, *command, **options) -> dict[str, int]:
        """The same status and output; the counts of the trace of the command itself."""
        plain = self.run_in_folder(*command, **options)
        done = self.rdam("record", "-f", functions, "--", *command, **options)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr.decode()[-2000:])
        return self.wrapped_calls()

    def make_input(self) -> str:
        (self.folder / "input").write_bytes(bytes(i * i % 251 ^ (i >> 7) & 63 for i in range(3_000_000)))
        return "input"

    def test_xz(self):
        self.need("xz")
        functions = LIBC + ",lzma_code,lzma_stream_encoder_mt,lzma_stream_decoder_mt,lzma_end,lzma_crc64"
        pack = ("xz", "-2", "-T2", "--block-size=500000", "-c", self.make_input())
        counts = self.compare(functions, *pack)
        self.assertGreater(counts["liblzma.so.5:lzma_code"], 10)
        self.assertEqual(counts["liblzma.so.5:lzma_stream_encoder_mt"], 1)
        (self.folder / "input.xz").write_bytes(self.run_in_folder(*pack).stdout)
        counts = self.compare(functions, "xz", "-T2", "-dc", "input.xz")
        self.assertEqual(counts["liblzma.so.5:lzma_stream_decoder_mt"], 1)

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
        library = "libsqlite3.so.0:"
        self.assertGreater(counts[library + "sqlite3_step"], 20)
        self.assertGreaterEqual(counts[library + "sqlite3_finalize"], counts[library + "sqlite3_prepare_v2"])

    def test_python_regression_tests(self):
        version = f"3.{sys.version_info.minor}"
        if not os.path.exists(f"/usr/lib/python{version}/test/test_json"):
            self.skipTest(f"Python's own tests (libpython{version}-testsuite) are not installed")
        modules = ["test_bisect", "test_heapq", "test_struct", "test_generators", "test_threading_local", "test_queue"]
        command = ("/usr/bin/python3", "-m", "test", "-v", *modules)
        functions = (LIBC + ",PyObject_Call,PyDict_GetItem,PyList_Append,_PyEval_EvalFrameDefault,PyErr_SetObject,"
                     "PyEval_RestoreThread,PyEval_SaveThread")
        results = []
        for run in (self.run_in_folder(*command, env={"PYTHONDONTWRITEBYTECODE": "1"}),
                    self.rdam("record", "-f", functions, "--", *command, env={"PYTHONDONTWRITEBYTECODE": "1"})):
            text = run.stdout.decode()
            self.assertEqual(run.returncode, 0, text[-2000:] + run.stderr.decode()[-2000:])
            self.assertIn(f"All {len(modules)} tests OK.", text)
            # What each single test came to; the times that stand beside differ. Some write their results on the other stream.
            results.append(sorted(re.findall(r"^(test\w+ \(.*\)).* \.\.\. (.*)$", text + run.stderr.decode(), re.MULTILINE)))
        self.assertEqual(results[1], results[0])
        self.assertGreater(len(results[0]), 200)
        self.assertGreater(self.wrapped_calls()[f"python{version}:PyObject_Call"], 100)

    def test_everything_in_libc(self):
        self.need("/usr/bin/python3", "sqlite3")
        script = ("import json, re, subprocess, threading\n"
                  "print(json.dumps({'a': [1, 2.5, {'b': re.sub('a', 'b', 'banana')}]}))\n"
                  "print(subprocess.run(['sh', '-c', 'echo hi; exit 3'], capture_output=True))\n"
                  "threads = [threading.Thread(target=lambda: [str(i) for i in range(1000)]) for _ in range(8)]\n"
                  "[thread.start() for thread in threads]\n[thread.join() for thread in threads]\n")
        counts = self.compare("libc.so.6:*", "/usr/bin/python3", "-c", script)
        self.assertGreater(len(counts), 200)
        self.compare("libc.so.6:*,libsqlite3.so.0:*", "sqlite3", ":memory:",
                     "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) "
                     "insert into t select i, hex(i * 7919 % 1009) from n; select sum(a), min(b), max(b) from t;")

    def test_gcc(self):
        self.need("gcc")
        (self.folder / "source.c").write_text("".join(
            f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; ++i) s = s * 31 + (a[i] ^ {i}); return s; }}\n" for i in range(150)))
        plain = self.run_in_folder("gcc", "-O2", "-c", "-o", "plain.o", "source.c")
        done = self.rdam("record", "-f", LIBC, "--", "gcc", "-O2", "-c", "-o", "recorded.o", "source.c")
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (0, b"", b""))
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        self.assertEqual((self.folder / "plain.o").read_bytes(), (self.folder / "recorded.o").read_bytes())
        # gcc itself, cc1 and the assembler have traces of their own.
        self.assertGreaterEqual(len(self.traces()), 3)
        self.assertGreater(max(self.wrapped_calls(trace)["libc.so.6:malloc"] for trace in self.traces()), 1000)


class Servers(Recorded):
    """Servers under the load that comes with them, first plain, then recorded."""

    @contextlib.contextmanager
    def server(self, functions: str | None, is_ready, *command):
        """Runs the command until the block ends, then ends it with SIGTERM."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        if functions is not None:
            variables |= {"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions, "RDAM_BUFFER": "256M"}
        with open(self.folder / "log", "wb") as log, subprocess.Popen([str(word) for word in command], cwd=self.folder,
                                                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables) as process:
            try:
                self.until(lambda: is_ready() or process.poll() is not None, "the server is not ready")
                self.assertIsNone(process.poll(), (self.folder / "log").read_text())
                yield process
                process.terminate()
                process.wait(60)
            finally:
                process.kill()

    def run_redis(self, functions: str | None, requests: int) -> tuple[int, dict[str, int], bytes]:
        """The server's exit status, its own count of commands, and what it answers when asked for what it holds."""
        socket_path = self.folder / "redis.sock"
        redis = ("redis-cli", "-s", socket_path)
        def listens() -> bool:
            """The socket is there before the server listens."""
            with socket.socket(socket.AF_UNIX) as client:
                return client.connect_ex(str(socket_path)) == 0

        with self.server(functions, listens, self.folder / "redis-server", "--port", "0", "--unixsocket", socket_path, "--save", "",
                         "--appendonly", "no") as process:
            load = self.run_in_folder("redis-benchmark", "-s", socket_path, "-n", requests, "-c", "20", "-t", "set,get", "-q")
            self.assertEqual((load.returncode, load.stderr), (0, b""))
            held = self.run_in_folder(*redis, "eval", "return {redis.call('dbsize'), redis.call('get', 'key:__rand_int__')}", "0").stdout
            told = self.run_in_folder(*redis, "info", "commandstats").stdout.decode()
        calls = {name: int(count) for name, count in re.findall(r"cmdstat_([^:]+):calls=(\d+)", told)}
        return process.returncode, calls, held

    def test_redis(self):
        self.need("redis-check-rdb", "redis-benchmark", "redis-cli")
        # Debian has one program for both: its name tells it what to be.
        (self.folder / "redis-server").symlink_to(shutil.which("redis-check-rdb"))
        requests = 5_000
        plain = self.run_redis(None, requests)
        self.assertEqual((plain[0], plain[1]["set"], plain[1]["get"]), (0, requests, requests + 1), plain)
        functions = LIBC + ",recv,send,writev,accept,accept4,je_malloc,je_free,getaddrinfo,processCommand,call"
        recorded = self.run_redis(functions, requests)
        self.assertEqual(recorded, plain)
        counts = self.wrapped_calls()
        # The server does not count the INFO that asks it until that has been answered. What the script calls comes from no client.
        commands = sum(plain[1].values()) + 1
        self.assertEqual(counts["redis-check-rdb:call"], commands)
        self.assertEqual(counts["redis-check-rdb:processCommand"], commands - 2)
        # One read for each request at least: no pipelining.
        self.assertGreaterEqual(counts["libc.so.6:read"], 2 * requests)

    def run_memcached(self, functions: str | None, requests: int) -> tuple[int, dict[str, int], list[str]]:
        """The server's exit status, its own counts, and what it said."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]

        def is_ready() -> bool:
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", port)) == 0

        with self.server(functions, is_ready, "memcached", "-u", "root", "-t", "2", "-l", "127.0.0.1", "-p", port, "-U", "0") as process:
            load = self.run_in_folder("memcaslap", "--servers", f"127.0.0.1:{port}", "--threads", "1", "--concurrency", "4", "--execute_number",
                                      requests)
            self.assertEqual(load.returncode, 0, load.stderr.decode())
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"stats\r\n")
                text = b""
                while not text.endswith(b"END\r\n"):
                    text += client.recv(65536)
        stats = dict(re.findall(r"STAT (\w+) (\d+)\r\n", text.decode()))
        names = ("cmd_get", "cmd_set", "get_hits", "get_misses", "curr_items", "total_connections")
        said = [line for line in (self.folder / "log").read_text().splitlines() if not line.startswith("rdam: ")]
        return process.returncode, {name: int(stats[name]) for name in names}, said

    def test_memcached(self):
        self.need("memcached", "memcaslap")
        requests = 5_000
        plain = self.run_memcached(None, requests)
        self.assertEqual((plain[0], plain[1]["cmd_get"] + plain[1]["cmd_set"]), (0, requests), plain)
        recorded = self.run_memcached(LIBC + ",sendmsg,event_base_loop,recvmsg,accept4", requests)
        # How often it was asked whether it is ready is not the same.
        connections = recorded[1].pop("total_connections")
        del plain[1]["total_connections"]
        self.assertEqual(recorded, plain)
        counts = self.wrapped_calls()
        # Each request and the question for its counts is answered with one message; the server takes itself for a connection.
        self.assertEqual(counts["libc.so.6:sendmsg"], requests + 1)
        self.assertEqual(counts["libc.so.6:accept4"], connections - 1)


if __name__ == "__main__":
    unittest.main()
