"""Pins the threads of programs that do not use OpenMP, one by one, by a library that is preloaded into them (tools/study-native/pin.c)."""

import pathlib

from rdam.study import native
from rdam.study.placements import Placement
from rdam.trace import Error

LIBRARY = "librdam-pin.so"


def library() -> pathlib.Path:
    """The library that this module, or else the rdam command, came with. Raises Error where it is missing, or cannot be preloaded."""
    found = native.find(LIBRARY)
    if set(" :") & set(str(found)):
        raise Error(f"{found}: LD_PRELOAD, by which threads are pinned, splits this path at its blank or colon: install rdam elsewhere")
    return found


def environment(placement: Placement, *, children: bool = False, main_at_start: bool = False, preloads: str = "") -> dict[str, str]:
    """Variables with which a program's n-th thread is bound to the placement's n-th processor before it runs; none if threads are free.

    Together with Placement.environment they suit any program: libgomp and libomp bind the threads they make themselves.

    children       child processes are pinned as well, each from the first processor on; else they may use all that the program may
    main_at_start  the main thread is bound from the start. Else it is moved to its processor at the start, but bound only when it starts
                   another thread, so that a program which counts the processors of its mask first starts as many threads as without
    preloads       what LD_PRELOAD has besides

    A program that is static, setuid or makes threads without libc is not pinned thread by thread: Placement.mask is what remains, and
    rdam.study.readback tells.
    """
    if not placement.processors:
        return {"LD_PRELOAD": preloads} if preloads else {}
    variables = {"LD_PRELOAD": f"{library()}:{preloads}" if preloads else str(library()),
                 "RDAM_PIN_PLACES": ",".join(map(str, placement.processors)), "RDAM_PIN_ROOT": "0" * 10}
    if children:
        variables["RDAM_PIN_CHILDREN"] = "1"
    if main_at_start:
        variables["RDAM_PIN_MAIN"] = "start"
    return variables
