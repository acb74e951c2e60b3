"""A study's temporary folder, for what one run prints and its trace, and those that studies left behind which were killed."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterator

NAME = re.compile(r"rdam-study-\d+-[a-z0-9_]{8}")
CONTENT = re.compile(r"out|errors|regions|memory|trace\.bin.*|[01]")  # the latter are folders for the two runs of a duet


def locked(path: str | pathlib.Path) -> int | None:
    """The open folder, which belongs to whoever has it open; None: it is another's, or none."""
    try:
        found = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(found)
        return None
    return found


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    remove_left()
    path = pathlib.Path(tempfile.mkdtemp(prefix=f"rdam-begun-{os.getpid()}-"))
    lock = None
    try:
        # It has its name when it is locked: nobody finds it between the two, and takes it for one that was left behind.
        if (lock := locked(path)) is not None:
            path = path.rename(path.with_name(path.name.replace("begun", "study", 1)))
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_left() -> None:
    """Those of this user that no study has open, and in which nothing is but what a study puts there."""
    for path in pathlib.Path(tempfile.gettempdir()).glob("rdam-study-*"):
        if not NAME.fullmatch(path.name) or (lock := locked(path)) is None:
            continue
        with contextlib.suppress(OSError):
            inside = (name for _, folders, files in os.walk(path) for name in (*folders, *files))
            if os.fstat(lock).st_uid == os.getuid() and os.path.samestat(os.fstat(lock), path.lstat()) and all(map(CONTENT.fullmatch, inside)):
                shutil.rmtree(path)
        os.close(lock)
