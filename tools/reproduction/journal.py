"""What has been measured, kept so that an interrupted sweep can go on: one JSON object a line, appended when it is finished."""

import fcntl
import hashlib
import json
import os
import pathlib
from collections.abc import Iterable
from typing import BinaryIO

from .trouble import Trouble


def key_of(settings: dict) -> str:
    """The same settings have the same key, whatever the order of their names."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Measurements:
    """What such a file says."""

    def __init__(self, lines: Iterable[dict] = ()):
        self._lines: list[dict] = []
        self._entries: dict[str, dict] = {}
        self.notes: list[dict] = []  # in the order in which they were made
        for line in lines:
            self._remember(line)

    def result(self, key: str) -> dict | None:
        return self._entries[key]["result"] if key in self._entries else None

    def notes_before(self, key: str) -> int:
        """How many notes had been made when this was measured."""
        return self._entries[key]["notes"]

    def last_time(self, notes: int) -> str:
        """When the last was finished of what was measured after so many notes; empty where that is not known."""
        return max((line.get("time", "") for line in self._entries.values() if line["notes"] == notes), default="")

    def _remember(self, line: dict) -> None:
        self._lines.append(line)
        if "key" in line:
            self._entries[line["key"]] = line
        else:
            self.notes.append(line)


class Journal(Measurements):
    """Such a file, for one run at a time. A last line that a killed run left half written is cut off when the file is opened."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._file = _open_alone(path)
        try:
            text = path.read_bytes()
            whole = text.rfind(b"\n") + 1
            super().__init__(_parse(line, path) for line in text[:whole].splitlines())
            self._file.truncate(whole)
        except BaseException:
            self._file.close()
            raise

    def add_result(self, key: str, settings: dict, result: dict, time: str = "") -> None:
        self._append({"key": key, "notes": len(self.notes), "time": time, "settings": settings, "result": result})

    def add_note(self, kind: str, **words) -> None:
        self._append({"note": kind, **words})

    def forget(self, keys: set[str]) -> None:
        """Drops these measurements, and nothing else; the file has either all of them or none, whenever this is interrupted."""
        kept = [line for line in self._lines if line.get("key") not in keys]
        if len(kept) == len(self._lines):
            return
        if not any("key" in line for line in kept):
            kept = []
        beside = self.path.with_name(self.path.name + ".new")
        beside.unlink(missing_ok=True)
        changed = _open_alone(beside)
        changed.write(b"".join(_line(one) for one in kept))
        changed.flush()
        os.fsync(changed.fileno())
        beside.replace(self.path)
        # From now on the lock of the new file counts; who has opened the old one is refused, or sees that it is another.
        self._file.close()
        self._file = changed
        super().__init__(kept)

    def close(self) -> None:
        self._file.close()

    def _append(self, line: dict) -> None:
        self._file.write(_line(line))
        self._file.flush()
        self._remember(line)


def _open_alone(path: pathlib.Path) -> BinaryIO:
    """Locked before anything is done to it, so that a second run does no harm to the first one's file."""
    while True:
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise Trouble(f"{path}: another run writes to it; wait for it, or name another folder with --output") from None
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
        file.close()  # a run that has just ended had put another file in its place


def _line(entry: dict) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def _parse(line: bytes, path: pathlib.Path) -> dict:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if isinstance(entry, dict) and ("note" in entry or {"key", "notes", "result"} <= entry.keys()):
        return entry
    raise Trouble(f"{path}: a line is not one that was written here; move the file away, or name another folder with --output")
