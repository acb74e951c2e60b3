"""Database servers for `microbench/field`: how each is set up, started, kept busy with a fixed number of transactions, and ended."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

READY_SECONDS = 60


class Server:
    """One that listens on a socket in the folder. The folder stays from run to run."""

    name = ""
    tools: tuple[str, ...] = ()  # commands that must be there
    folders: tuple[str, ...] = ()  # where they may be besides the path

    def __init__(self, path: str) -> None:
        self.places: dict[str, str] = {}
        for tool in self.tools:
            found = shutil.which(tool, path=os.pathsep.join([path, *self.folders]))
            if found:
                self.places[tool] = found

    def missing(self) -> list[str]:
        return [tool for tool in self.tools if tool not in self.places]

    def user(self) -> str | None:
        """Who it runs as; None: who runs this."""
        return None

    def prepare(self, folder: pathlib.Path) -> None:
        raise NotImplementedError

    def command(self, folder: pathlib.Path) -> list[str]:
        raise NotImplementedError

    def is_ready(self, folder: pathlib.Path) -> bool:
        raise NotImplementedError

    def load(self, folder: pathlib.Path, clients: int) -> None:
        raise NotImplementedError

    def stop(self, folder: pathlib.Path) -> None:
        raise NotImplementedError

    def call(self, *command: object, check: bool = True) -> bool:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, **self.identity())
        if check and done.returncode != 0:
            sys.exit(f"field: {self.name}: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.decode()[-400:]}")
        return done.returncode == 0

    def identity(self, enter: Callable[[], None] = lambda: None) -> dict[str, object]:
        """Options of subprocess for a process of the server's."""
        name = self.user()
        if name is None:
            return {"preexec_fn": enter}
        account = pwd.getpwnam(name)

        def become() -> None:
            enter()
            os.initgroups(name, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)

        return {"preexec_fn": become, "env": os.environ | {"HOME": str(self.home)}}

    home: pathlib.Path | None = None

    @contextlib.contextmanager
    def running(self, prefix: list[str], folder: pathlib.Path, enter: Callable[[], None]) -> Iterator[None]:
        """The server, under whatever `prefix` is, until it has ended by itself after stop()."""
        with (folder / "said").open("wb") as said:
            server = subprocess.Popen([*prefix, *self.command(folder)], stdout=said, stderr=said, cwd=folder, **self.identity(enter))
        try:
            until = time.monotonic() + READY_SECONDS
            while not self.is_ready(folder):
                if server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{self.name} did not start: {(folder / 'said').read_text(errors='replace')[-400:]}")
                time.sleep(0.05)
            yield
            self.stop(folder)
            if status := server.wait(READY_SECONDS):
                raise RuntimeError(f"{self.name} ended with {status}: {(folder / 'said').read_text(errors='replace')[-400:]}")
        finally:
            if server.poll() is None:
                server.terminate()
                server.wait()


class MariaDb(Server):
    name = "mariadbd"
    tools = ("mariadbd", "mariadb-install-db", "mariadb-admin", "mariadb-slap")
    folders = ("/usr/sbin",)
    queries = 40_000

    def options(self, folder: pathlib.Path) -> list[str]:
        return ["--no-defaults", f"--socket={folder}/socket"]

    def user(self) -> str | None:
        return "nobody" if os.geteuid() == 0 else None

    def prepare(self, folder: pathlib.Path) -> None:
        self.home = folder
        self.call(self.places["mariadb-install-db"], "--no-defaults", f"--datadir={folder}/data", "--auth-root-authentication-method=normal")

    def command(self, folder: pathlib.Path) -> list[str]:
        return [self.places["mariadbd"], *self.options(folder), f"--datadir={folder}/data", f"--pid-file={folder}/pid", "--skip-networking",
                "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M"]

    def is_ready(self, folder: pathlib.Path) -> bool:
        return self.call(self.places["mariadb-admin"], *self.options(folder), "-uroot", "ping", check=False)

    def load(self, folder: pathlib.Path, clients: int) -> None:
        self.call(self.places["mariadb-slap"], *self.options(folder), "-uroot", f"--concurrency={clients}", f"--number-of-queries={self.queries}",
                  "--auto-generate-sql", "--auto-generate-sql-add-autoincrement", "--auto-generate-sql-load-type=mixed", "--iterations=1")

    def stop(self, folder: pathlib.Path) -> None:
        self.call(self.places["mariadb-admin"], *self.options(folder), "-uroot", "shutdown")


class PostgreSql(Server):
    name = "postgres"
    tools = ("postgres", "initdb", "pg_ctl", "pg_isready", "createdb", "pgbench")
    folders = tuple(str(place) for place in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
    transactions = 8_000

    def user(self) -> str | None:
        # The server refuses to run as root.
        return "nobody" if os.geteuid() == 0 else None

    def prepare(self, folder: pathlib.Path) -> None:
        self.home = folder
        self.call(self.places["initdb"], "-D", folder / "data", "-A", "trust", "-U", "bench", "--no-sync")
        with self.running([], folder, lambda: None):
            self.call(self.places["createdb"], "-h", folder, "-U", "bench", "bench")
            self.call(self.places["pgbench"], "-h", folder, "-U", "bench", "-i", "-q", "-s", "4", "bench")

    def command(self, folder: pathlib.Path) -> list[str]:
        return [self.places["postgres"], "-D", str(folder / "data"), "-k", str(folder), "-c", "listen_addresses=", "-c", "synchronous_commit=off"]

    def is_ready(self, folder: pathlib.Path) -> bool:
        return self.call(self.places["pg_isready"], "-q", "-h", folder, check=False)

    def load(self, folder: pathlib.Path, clients: int) -> None:
        each = self.transactions // clients
        self.call(self.places["pgbench"], "-h", folder, "-U", "bench", "-n", "-c", clients, "-j", clients, "-t", each, "bench")

    def stop(self, folder: pathlib.Path) -> None:
        self.call(self.places["pg_ctl"], "-D", folder / "data", "-m", "fast", "-W", "stop")


class Redis(Server):
    name = "redis-server"
    tools = ("redis-server", "redis-cli", "redis-benchmark")
    requests = 60_000

    def prepare(self, folder: pathlib.Path) -> None:
        pass

    def command(self, folder: pathlib.Path) -> list[str]:
        return [self.places["redis-server"], "--port", "0", "--unixsocket", f"{folder}/socket", "--io-threads", "2", "--io-threads-do-reads", "yes",
                "--save", "", "--dir", str(folder)]

    def is_ready(self, folder: pathlib.Path) -> bool:
        return self.call(self.places["redis-cli"], "-s", folder / "socket", "ping", check=False)

    def load(self, folder: pathlib.Path, clients: int) -> None:
        self.call(self.places["redis-benchmark"], "-s", folder / "socket", "-t", "set,get", "-n", self.requests, "-c", 8 * clients, "-P", 4,
                  "-d", 200, "-q")

    def stop(self, folder: pathlib.Path) -> None:
        self.call(self.places["redis-cli"], "-s", folder / "socket", "shutdown", "nosave", check=False)


class Memcached(Server):
    name = "memcached"
    tools = ("memcached", "memcslap")
    folders = ("/usr/sbin",)
    requests = 150_000

    def user(self) -> str | None:
        return "nobody" if os.geteuid() == 0 else None

    def prepare(self, folder: pathlib.Path) -> None:
        self.home = folder

    def command(self, folder: pathlib.Path) -> list[str]:
        return [self.places["memcached"], "-s", f"{folder}/socket", "-t", "2", "-m", "64", "-P", f"{folder}/pid"]

    def is_ready(self, folder: pathlib.Path) -> bool:
        return (folder / "socket").exists() and (folder / "pid").exists()

    def load(self, folder: pathlib.Path, clients: int) -> None:
        for test in "set", "get":
            self.call(self.places["memcslap"], f"--servers={folder}/socket", f"--concurrency={clients}",
                      f"--execute-number={self.requests // clients}", f"--test={test}")

    def stop(self, folder: pathlib.Path) -> None:
        os.kill(int((folder / "pid").read_text()), signal.SIGTERM)


SERVERS = (MariaDb, PostgreSql, Redis, Memcached)
