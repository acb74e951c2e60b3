"""A study's file: every run is in it when it ends. One JSON object a line; the first says what is studied. Two runs at once are one line: there
are both or none."""

import contextlib
import errno
import fcntl
import json
import os
import pathlib
import stat
from collections.abc import Iterator

from rdam.trace import Error

FORMAT = "rdam study 1"
DUET = "duet"
HEAD = {"format", "request", "command", "rounds", "record_every", "warm_ups", "seed", "processors", "labels", "levels", "equal"}
RUN = {"setting", "round", "warm_up", "recorded", "at", "wall_ns", "user_ns", "system_ns", "others_s", "stolen_s", "output", "output_differs"}


class Journal:
    """Open for writing by one study at a time. A line that was cut off, by a machine that went down, is taken away."""

    def __init__(self, path: pathlib.Path, head: dict | None = None) -> None:
        """A new file with `head`, or one that is there to go on with. Raises Error where either cannot be."""
        self.path = path
        check_kind(path)
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if head is not None else 0)
        try:
            self._file = os.open(path, flags, 0o666)
        except FileExistsError:
            raise Error(f"{path}: exists; continue it with --resume, or name another file by -o") from None
        except OSError as error:
            raise Error(f"{path}: cannot be opened: {error.strerror}; name another file by -o") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Error(f"{path}: another study is writing it; wait for its end") from None
        if head is not None:
            self.append({"format": FORMAT, **head})
        else:
            next(lines(path))  # nothing of another file is taken away
            self._cut()

    def append(self, line: dict) -> None:
        """Raises Error if it cannot be kept; then nothing of it is in the file."""
        text = (json.dumps(line, separators=(",", ":")) + "\n").encode()
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, text) < len(text):
                raise OSError(errno.ENOSPC, "no space is left")
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise Error(f"{self.path}: cannot be written: {error.strerror}; make room, then continue with --resume") from None

    def _cut(self) -> None:
        text = self.path.read_bytes()
        if whole := text.rfind(b"\n") + 1:
            os.ftruncate(self._file, whole)


def check_kind(path: pathlib.Path) -> None:
    """Raises Error for what is no file and could not be gone back in, or would be waited for."""
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    with contextlib.suppress(OSError):
        if kind := kinds.get(stat.S_IFMT(path.stat().st_mode)):
            raise Error(f"{path}: is {kind}, and a study is kept in a file: name one")


def lines(path: pathlib.Path) -> Iterator[dict]:
    """The head, and the lines behind it; of two runs at once, first one, then the other. Raises Error for another file."""
    check_kind(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error.strerror}; name a study's file") from None
    whole = text[:text.rfind(b"\n") + 1].split(b"\n")[:-1]
    if not text:
        raise Error(f"{path}: is empty: a study that had no time to begin; remove it, and begin again")
    settings = None
    for number, line in enumerate(whole or [b""]):
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not is_complete(found, settings) or (number == 0 and found["format"] != FORMAT):
            raise Error(f"{path}: line {number + 1} does not belong to a study's file; name one that rdam study has written")
        settings = len(found["labels"]) if number == 0 else settings
        yield from [found] if number == 0 else found.get(DUET, [found])


def is_complete(line: object, settings: int | None) -> bool:
    """`settings` is how many the head has; None: this is the head."""
    if not isinstance(line, dict):
        return False
    if settings is None:
        return HEAD <= line.keys() and isinstance(line["labels"], list)
    if DUET in line:
        runs = line[DUET]
        return isinstance(runs, list) and all(isinstance(each, dict) and "setting" in each and is_complete(each, settings) for each in runs)
    if "setting" in line:
        needed = RUN | ({"program_ns", "functions"} if line.get("recorded") else set())
        return needed <= line.keys() and isinstance(line["setting"], int) and 0 <= line["setting"] < settings and line["wall_ns"] > 0
    return {"machine", "before"} <= line.keys() and isinstance(line["machine"], dict) and "load" in line["machine"]
