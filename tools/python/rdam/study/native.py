"""What of `rdam study` is no Python, and lies where rdam keeps its own libraries (tools/study-native)."""

import pathlib

from rdam.trace import Error, program

# From the prefix (or from the build tree's root): a plain installation, one for several architectures, Debian's package, the build tree.
PLACES = ("lib/rdam", "lib64/rdam", "lib/*/rdam", "lib/*/rdam/rdam", "tools/study-native")


def find(name: str) -> pathlib.Path:
    """The file that this module, or else the rdam command, came with. Raises Error where it is missing."""
    for origin in (lambda: __file__, program):
        for parent in pathlib.Path(origin()).resolve().parents:
            for place in PLACES:
                for found in sorted(parent.glob(f"{place}/{name}")):
                    return found
    raise Error(f"{name}, which rdam study needs, is neither where this module is nor where the rdam command is: reinstall rdam")


def preloaded(name: str, preloads: str) -> str:
    """LD_PRELOAD with this library before what else it has. Raises Error where the library is missing, or cannot be preloaded."""
    found = find(name)
    if set(" :") & set(str(found)):
        raise Error(f"{found}: LD_PRELOAD, by which programs get it, splits this path at its blank or colon: install rdam elsewhere")
    return f"{found}:{preloads}" if preloads else str(found)
