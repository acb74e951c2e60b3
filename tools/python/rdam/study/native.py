"""What of `rdam study` is no Python, and lies where rdam keeps its own libraries (tools/study-native)."""

import pathlib

from rdam.study.placements import Placement
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


def pinned(placement: Placement, preloads: str = "") -> dict[str, str]:
    """Variables with which the n-th thread of a program that does not use OpenMP is bound to the placement's n-th processor before it runs
    (tools/study-native/pin.c); none if threads are free.

    Together with Placement.environment they suit any program: libgomp and libomp bind the threads they make themselves.

    The main thread is moved to its processor at the start, but bound only when it starts another thread, so that a program which counts the
    processors of its mask first starts as many threads as without. Child processes may use all that the program may. `preloads` is what
    LD_PRELOAD has besides.

    A program that is static, setuid or makes threads without libc is not pinned thread by thread: Placement.mask is what remains, and
    rdam.study.readback tells. Raises Error where the library is missing, or cannot be preloaded.
    """
    if not placement.processors:
        return {}
    return {"LD_PRELOAD": preloaded("librdam-pin.so", preloads), "RDAM_PIN_PLACES": ",".join(map(str, placement.processors)),
            "RDAM_PIN_ROOT": "0" * 10}
