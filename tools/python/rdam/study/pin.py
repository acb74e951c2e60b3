"""Pins the threads of programs that do not use OpenMP, one by one, by a library that is preloaded into them (tools/study-native/pin.c)."""

from rdam.study import native
from rdam.study.placements import Placement

LIBRARY = "librdam-pin.so"


def environment(placement: Placement, preloads: str = "") -> dict[str, str]:
    """Variables with which a program's n-th thread is bound to the placement's n-th processor before it runs; none if threads are free.

    Together with Placement.environment they suit any program: libgomp and libomp bind the threads they make themselves.

    The main thread is moved to its processor at the start, but bound only when it starts another thread, so that a program which counts the
    processors of its mask first starts as many threads as without. Child processes may use all that the program may. `preloads` is what
    LD_PRELOAD has besides.

    A program that is static, setuid or makes threads without libc is not pinned thread by thread: Placement.mask is what remains, and
    rdam.study.readback tells. Raises Error where the library is missing, or cannot be preloaded.
    """
    if not placement.processors:
        return {"LD_PRELOAD": preloads} if preloads else {}
    return {"LD_PRELOAD": native.preloaded(LIBRARY, preloads), "RDAM_PIN_PLACES": ",".join(map(str, placement.processors)),
            "RDAM_PIN_ROOT": "0" * 10}
