"""The network benchmark between two network namespaces, and over loopback (table 5.4).

The namespaces have no names: a process that waits for us to close its standard input holds each, so that they are gone when
we are, however we end.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
from collections.abc import Iterator

from . import Trouble
from .benchmarks import LINKS
from .measure import analyzed, record_words, said_by
from .programs import Programs, finish, run, start, stop

OPERATIONS = {"client": "send_request", "server": "serve_request"}  # what each side records
ADDRESSES = ("10.254.71.1", "10.254.71.2")
PORT = 7171
# What a link lets pass at once, as time at its rate: at 1 Gb/s a whole segment of 64 KiB, which is otherwise cut into packets, at
# the sender's expense.
BURST_S = 0.0006


def obstacles() -> dict[str, str]:
    """Why links cannot be measured here, by name; those that can are not in it."""
    try:
        with namespaces(LINKS[0].rate_mbit):
            return {}
    except (Trouble, OSError) as trouble:
        reason = "it takes root" if os.geteuid() != 0 else str(trouble)
        return {link.name: reason for link in LINKS if link.rate_mbit is not None}


@contextlib.contextmanager
def _namespace() -> Iterator[int]:
    """The pid of a process in a network namespace of its own."""
    holder = start(["unshare", "--net", "sh", "-c", "echo there && exec cat"], pathlib.Path("/"), stdin=subprocess.PIPE)
    try:
        if holder.stdout.readline() != "there\n":
            raise Trouble(f"no network namespace can be made: {' '.join(holder.stderr.read().split())}")
        yield holder.pid
    finally:
        stop(holder)
        for stream in (holder.stdin, holder.stdout, holder.stderr):
            stream.close()


def _inside(pid: int) -> list[str]:
    return ["nsenter", f"--net=/proc/{pid}/ns/net"]


@contextlib.contextmanager
def namespaces(rate_mbit: int) -> Iterator[list[list[str]]]:
    """What to put before a command to run it on either side of a link of this rate: the client's side, the server's."""
    for command in ("ip", "tc", "unshare", "nsenter"):
        if shutil.which(command) is None:
            raise Trouble(f"{command} is not installed ('apt install iproute2 util-linux')")
    anywhere = pathlib.Path("/")
    with _namespace() as client, _namespace() as server:
        sides = [_inside(client), _inside(server)]
        run([*sides[0], "ip", "link", "add", "rdam0", "type", "veth", "peer", "name", "rdam0", "netns", server], anywhere)
        for side, address in zip(sides, ADDRESSES, strict=True):
            run([*side, "ip", "address", "add", f"{address}/30", "dev", "rdam0"], anywhere)
            run([*side, "ip", "link", "set", "lo", "up"], anywhere)
            run([*side, "ip", "link", "set", "rdam0", "up"], anywhere)
            run([*side, "tc", "qdisc", "add", "dev", "rdam0", "root", "tbf", "rate", f"{rate_mbit}mbit", "burst",
                 str(round(rate_mbit * 1e6 / 8 * BURST_S)), "latency", "100ms"], anywhere)
        yield sides


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def _exchange(programs: Programs, settings: dict, folder: pathlib.Path, sides: list[list[str]], address: str, port: int) -> dict:
    traces = {role: folder / f"{role}.bin" for role in OPERATIONS}
    client, server = ([*side, *record_words(programs, operation, traces[role]), programs.microbench, "network", "--role", role, "--address", address,
                       "--port", port, "--iterations", settings["iterations"], *settings["options"]]
                      for side, (role, operation) in zip(sides, OPERATIONS.items(), strict=True))
    try:
        serving = start(server, folder)
        try:
            outputs = {"client": run(client, folder), "server": finish(serving)}
        finally:
            stop(serving)
        seconds = {role: said_by(outputs[role], operation, f"network, {role}")["seconds"] for role, operation in OPERATIONS.items()}
        return {"seconds": seconds["client"], **{role: analyzed(programs, traces[role], operation) for role, operation in OPERATIONS.items()}}
    finally:
        for trace in traces.values():
            trace.unlink(missing_ok=True)


def measure(programs: Programs, settings: dict, folder: pathlib.Path) -> dict:
    """The client's and the server's figures over one link."""
    if settings["rate_mbit"] is None:
        return _exchange(programs, settings, folder, [[], []], "127.0.0.1", free_port())
    with namespaces(settings["rate_mbit"]) as sides:
        return _exchange(programs, settings, folder, sides, ADDRESSES[1], PORT)
