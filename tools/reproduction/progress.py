"""Where a run is: one line, rewritten, on standard error if that is a terminal; nothing else where it is not."""

import sys
import time


class Progress:
    def __init__(self, total: int, done: int, stream=sys.stderr):
        self._stream = stream if stream.isatty() else None
        self._total = total
        self._done = self._done_before = done
        self._began = time.monotonic()

    def starting(self, label: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\033[K[{self._done + 1}/{self._total}] {label}{self._left()}")
            self._stream.flush()

    def finished(self) -> None:
        self._done += 1

    def close(self) -> None:
        if self._stream is not None:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def _left(self) -> str:
        measured = self._done - self._done_before
        if measured == 0:
            return ""
        seconds = round((time.monotonic() - self._began) / measured * (self._total - self._done))
        return f", {seconds // 60}:{seconds % 60:02} left"
