"""A terminal for a test: a program runs in it, keys are typed, and what stands on its screen is read."""

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

TIMEOUT = float(os.environ.get("SCREEN_TIMEOUT", "120"))
UP, DOWN, LEFT, RIGHT = "\x1bOA", "\x1bOB", "\x1bOD", "\x1bOC"
ESCAPE, ENTER = "\x1b", "\r"
ALTERNATE = (b"\x1b[?1049h", b"\x1b[?1049l")


def _on_a_terminal():
    """As a shell starts a program there. Tests that run in the background, or under nohup, hand on ignored signals."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Screen:
    """`command` on a pseudo-terminal of that size."""

    def __init__(self, command, folder, width=80, height=24, env=None):
        self.terminal, self.inside = pty.openpty()
        self.drawn = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.drawn)
        self.output = b""
        self.resize(width, height)
        self.before = termios.tcgetattr(self.inside)
        self.program = subprocess.Popen([str(word) for word in command], cwd=folder, env=env, start_new_session=True,
                                        stdin=self.inside, stdout=self.inside, stderr=self.inside,
                                        preexec_fn=_on_a_terminal)

    def resize(self, width, height):
        self.drawn.resize(height, width)
        fcntl.ioctl(self.inside, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys: str):
        os.write(self.terminal, keys.encode())

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.drawn.display]

    def text(self) -> str:
        return "\n".join(self.lines())

    def read(self, seconds=0.1):
        """What the program has written by now, or writes soon."""
        while select.select([self.terminal], [], [], seconds)[0]:
            try:
                got = os.read(self.terminal, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return
            self.output += got
            self.stream.feed(got)
            seconds = 0

    def wait(self, reached, what: str):
        """Until `reached` of this is true."""
        end = time.monotonic() + TIMEOUT
        while True:
            self.read()
            if reached(self):
                self.read()  # the rest of what was drawn
                if reached(self):
                    return
            if self.program.poll() is not None or time.monotonic() > end:
                self.read()
                if reached(self):
                    return
                raise AssertionError(f"never seen: {what}; the program {self.program.poll()}; on the screen:\n{self.text()}")

    def expect(self, *words: str, without=()):
        self.wait(lambda s: all(word in s.text() for word in words) and not any(word in s.text() for word in without),
                  f"{words} without {without}")

    def press(self, keys: str, *words: str, without=()):
        self.type(keys)
        self.expect(*words, without=without)

    def line_with(self, *words: str) -> str:
        found = [line for line in self.lines() if all(word in line for word in words)]
        assert len(found) == 1, (words, found, self.text())
        return found[0]

    def ended(self) -> int:
        """Waits for the end: the exit status, or minus the signal."""
        end = time.monotonic() + TIMEOUT
        while self.program.poll() is None:
            self.read()
            assert time.monotonic() < end, "the program does not end:\n" + self.text()
        self.read()
        return self.program.returncode

    def given_back(self) -> bool:
        """The terminal is as it was: its modes, the ordinary screen, a cursor that is seen."""
        began, left = (self.output.rfind(code) for code in ALTERNATE)
        hidden, shown = (self.output.rfind(code) for code in (b"\x1b[?25l", b"\x1b[?25h"))
        return termios.tcgetattr(self.inside) == self.before and left > began and shown >= hidden

    def signal(self, number: signal.Signals):
        self.program.send_signal(number)

    def close(self):
        if self.program.poll() is None:
            self.program.kill()
        self.program.wait()
        os.close(self.inside)
        os.close(self.terminal)
