"""What has been measured, kept so that an interrupted sweep can go on: one JSON object a line, appended when it is finished."""

import fcntl
import hashlib
import json
import lzma
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from .trouble import Trouble

OF_A_RUN = "name the measurements.jsonl of a run, as it is or packed by xz"


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

    def all_settings(self) -> list[dict]:
        return [line["settings"] for line in self._entries.values()]

    def last_settings(self) -> dict | None:
        """Of what was measured last; None if nothing was."""
        return next((line["settings"] for line in reversed(self._lines) if "key" in line), None)

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
            whole = _whole(text)
            super().__init__(_lines(text[:whole], path, "move the file away, or name another folder with --output"))
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


def read(path: pathlib.Path) -> Measurements:
    """Of a file that stays as it is, even of a run that goes on; one whose name ends in .xz is unpacked."""
    try:
        text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}; {OF_A_RUN}") from None
    except (lzma.LZMAError, EOFError) as error:
        raise Trouble(f"{path}: cannot be unpacked ({error}); {OF_A_RUN}") from None
    return Measurements(_lines(text[:_whole(text)], path, OF_A_RUN))


def _whole(text: bytes) -> int:
    """How long it is without a last line that is half written."""
    return text.rfind(b"\n") + 1


def _lines(text: bytes, path: pathlib.Path, remedy: str) -> Iterator[dict]:
    return (_parse(line, path, remedy) for line in text.splitlines())


def _line(entry: dict) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def _parse(line: bytes, path: pathlib.Path, remedy: str) -> dict:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if isinstance(entry, dict) and ("note" in entry or {"key", "notes", "settings", "result"} <= entry.keys()):
        return entry
    raise Trouble(f"{path}: a line is not one that was written here; {remedy}")
