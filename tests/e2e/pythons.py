"""Interpreters for the Python module rdam, and the module itself."""

import functools
import os
import pathlib
import subprocess
import sys

from harness import RDAM
from packages import packages

# Where the build tree has the module.
MODULE = pathlib.Path(RDAM).resolve().parent.parent / "python"


def candidates() -> list[str]:
    """The one that tools/setup has given packages, and this one."""
    return [str(packages() / "bin/python3"), sys.executable]


@functools.cache
def python_with(*modules: str) -> str | None:
    """An interpreter that can import all of them."""
    for python in candidates():
        if os.access(python, os.X_OK):
            found = subprocess.run([python, "-c", f"import {', '.join(modules)}"], check=False, capture_output=True)
            if found.returncode == 0:
                return python
    return None
