"""What has been measured, kept so that an interrupted run can go on: one JSON object a line, appended when it is finished."""

import fcntl
import json
import lzma
import pathlib
from collections.abc import Iterable, Iterator

from . import Trouble
from .plan import Task

OF_A_RUN = "name the measurements.jsonl of a run, as it is or packed by xz"


class Measurements:
    """What such a file says."""

    def __init__(self, lines: Iterable[dict] = ()):
        self.entries: dict[str, dict] = {}  # by key, in the order in which they were measured
        self.notes: list[dict] = []
        for line in lines:
            self._remember(line)

    def _remember(self, line: dict) -> None:
        if "key" in line:
            self.entries[line["key"]] = line
        elif "forget" in line:
            self.entries = {key: entry for key, entry in self.entries.items() if key not in line["forget"]}
        else:
            self.notes.append(line)


class Journal(Measurements):
    """Such a file, for one run at a time. A last line that a killed run left half written is cut off when the file is opened."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._file = path.open("ab")
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Trouble(f"{path}: another run writes to it; wait for it, or name another folder with --output") from None
            text = path.read_bytes()
            super().__init__(_lines(text, path, "move the file away, or name another folder with --output"))
            self._file.truncate(_whole(text))
        except BaseException:
            self.close()
            raise

    def add_result(self, task: Task, result: dict, time: str) -> None:
        self._append({"key": task.key, "notes": len(self.notes), "time": time, "settings": task.settings, "result": result})

    def add_note(self, kind: str, **words) -> None:
        self._append({"note": kind, **words})

    def forget(self, tasks: Iterable[Task]) -> None:
        """Their measurements no longer count. What they were stays in the file."""
        if known := [task.key for task in tasks if task.key in self.entries]:
            self._append({"forget": known})

    def close(self) -> None:
        self._file.close()

    def _append(self, line: dict) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        self._remember(line)


def read(path: pathlib.Path) -> Measurements:
    """Of a file that stays as it is, even of a run that goes on; one whose name ends in .xz is unpacked."""
    try:
        text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}; {OF_A_RUN}") from None
    except (lzma.LZMAError, EOFError) as error:
        raise Trouble(f"{path}: cannot be unpacked ({error}); {OF_A_RUN}") from None
    return Measurements(_lines(text, path, OF_A_RUN))


def _whole(text: bytes) -> int:
    """How long it is without a last line that is half written."""
    return text.rfind(b"\n") + 1


def _lines(text: bytes, path: pathlib.Path, remedy: str) -> Iterator[dict]:
    for line in text[:_whole(text)].splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict) or not ({"note", "forget"} & entry.keys() or {"key", "notes", "settings", "result"} <= entry.keys()):
            raise Trouble(f"{path}: a line is not one that was written here; {remedy}")
        yield entry
