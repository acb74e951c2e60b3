"""What has been measured, kept so that an interrupted sweep can go on: one JSON object a line, appended when it is finished."""

import fcntl
import hashlib
import json
import pathlib

from .trouble import Trouble


def key_of(settings: dict) -> str:
    """The same settings have the same key, whatever the order of their names."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Journal:
    """A file of measurements and notes. A last line that a killed run left half written is cut off when the file is opened."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Trouble(f"{path}: another run writes to it; wait for it, or name another folder with --output") from None
        self._entries: dict[str, dict] = {}
        self.notes: list[dict] = []  # in the order in which they were made
        text = path.read_bytes()
        whole = text.rfind(b"\n") + 1
        for line in text[:whole].splitlines():
            self._remember(_parse(line, path))
        self._file.truncate(whole)

    def result(self, key: str) -> dict | None:
        return self._entries[key]["result"] if key in self._entries else None

    def notes_before(self, key: str) -> int:
        """How many notes had been made when this was measured."""
        return self._entries[key]["notes"]

    def add_result(self, key: str, settings: dict, result: dict) -> None:
        self._append({"key": key, "notes": len(self.notes), "settings": settings, "result": result})

    def add_note(self, kind: str, **words) -> None:
        self._append({"note": kind, **words})

    def close(self) -> None:
        self._file.close()

    def _append(self, entry: dict) -> None:
        self._file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        self._remember(entry)

    def _remember(self, entry: dict) -> None:
        if "key" in entry:
            self._entries[entry["key"]] = entry
        else:
            self.notes.append(entry)


def _parse(line: bytes, path: pathlib.Path) -> dict:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if isinstance(entry, dict) and ("note" in entry or {"key", "notes", "result"} <= entry.keys()):
        return entry
    raise Trouble(f"{path}: a line is not one that was written here; --fresh begins anew")
