"""A screen that nobody sees, for viewers with windows: Debian's Xvfb, photographed by python3-pil."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

WAIT = 60
PAUSE = 0.3


def missing() -> str | None:
    """Why there is no such screen here; None: there is one."""
    if shutil.which("Xvfb") is None:
        return "Xvfb is not installed (Debian: xvfb)"
    try:
        from PIL import features
    except ImportError:
        return "python3-pil is not installed"
    return None if features.check("xcb") else "python3-pil cannot photograph a screen"


class Screen:
    """Programs started on it know nothing of the person's own screen and settings."""

    def __init__(self, width=1100, height=700):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rdam-screen-"))
        reading, writing = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
                                       pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as said:
            self.display = ":" + said.readline().strip()
        self.programs = []

    def close(self):
        for each in (*self.programs, self.server):
            each.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                each.wait(WAIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def variables(self) -> dict[str, str]:
        own = str(self.folder)
        return {**os.environ, "DISPLAY": self.display, "HOME": own, "XDG_RUNTIME_DIR": own, "XDG_CONFIG_HOME": own, "QT_QPA_PLATFORM": "xcb"}

    def start(self, *words, cwd) -> subprocess.Popen:
        running = subprocess.Popen([str(each) for each in words], cwd=cwd, env=self.variables(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.programs.append(running)
        return running

    def picture(self):
        """What the screen shows, as one of PIL's images."""
        from PIL import ImageGrab

        return ImageGrab.grab(xdisplay=self.display).convert("RGB")

    def settled(self):
        """What it shows once that no longer changes and is more than an empty screen."""
        last, until = None, time.monotonic() + WAIT
        while time.monotonic() < until:
            now = self.picture()
            if last is not None and now.getbbox() and now.tobytes() == last.tobytes():
                return now
            last = now
            time.sleep(PAUSE)
        raise AssertionError("the screen stays empty, or never comes to rest")
