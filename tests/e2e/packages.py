"""Where tools/setup puts what Debian does not have."""

import os
import pathlib


def packages() -> pathlib.Path:
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path(os.environ.get("HOME", "/tmp")) / ".cache"
    return pathlib.Path(os.environ.get("RDAM_TEST_PYTHON") or pathlib.Path(cache) / "rdam-test-python")
