"""Memory policies of areas: what librdam-memory.so (tools/study-native/memory) is told, and what it says of a run."""

import ctypes
import functools
import hashlib
import pathlib
import struct

from rdam.study import native
from rdam.trace import Error

LIBRARY = "librdam-memory.so"
BEGIN = b"memory1"
ACCOUNT = struct.Struct("8s7Q64QQ256s")  # struct memory_account, in account.h there


@functools.cache
def library() -> ctypes.CDLL:
    """Loaded into this process, where it does nothing without its variables."""
    found = ctypes.CDLL(str(native.find(LIBRARY)))
    found.rdam_memory_wrong_rule.restype = ctypes.c_long
    return found


def check(rules: str) -> None:
    """Raises Error for what the library would not understand."""
    text = rules.encode()
    wrong = -1 if b"\0" not in text else 0
    if wrong < 0:
        wrong = library().rdam_memory_wrong_rule(text)
    if wrong >= 0:
        rule = text[wrong:].split(b",")[0].decode(errors="replace")
        raise Error(f"--memory {rules}: '{rule}' is no policy (local, first-touch, interleave, bind:NODE, bind_block, cyclic, skew_mapp, "
                    "prime_mapp, random), nor one with what it is for before it, as in u=cyclic, @make_grid=random, 64M..=interleave")


def needs_pinning(rules: str) -> bool:
    """A thread's block is for the node that the thread is pinned to."""
    return any(rule.rpartition("=")[2] == "bind_block" for rule in rules.split(","))


def variables(rules: str, seed: str, account: pathlib.Path, preloads: str) -> dict[str, str]:
    """With which a run has these rules; `preloads` is what LD_PRELOAD has besides. Raises Error."""
    try:
        account.write_bytes(BEGIN.ljust(ACCOUNT.size, b"\0"))
    except OSError:
        raise Error(f"{account}: cannot be written, to keep account of the memory that is placed") from None
    drawn = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "little")
    return {"LD_PRELOAD": native.preloaded(LIBRARY, preloads), "RDAM_MEMORY_RULES": rules, "RDAM_MEMORY_FILE": str(account),
            "RDAM_MEMORY_SEED": str(drawn)}


def read(account: pathlib.Path, rules: str) -> dict:
    """What was placed in a run, by the names that the journal has. Without a process nothing is known: none had the library."""
    content = account.read_bytes() if account.is_file() else b""
    if len(content) != ACCOUNT.size:
        return {"memory": None}
    _, processes, areas, pages, elsewhere, left_alone, placing, nodes, *fitting, has_reason, reason = ACCOUNT.unpack(content)
    if not processes and not has_reason:
        return {"memory": None}
    return {"placed_areas": areas, "placed_pages": pages, "pages_elsewhere": elsewhere, "areas_left_alone": left_alone, "placing_ns": placing,
            "memory": {"nodes": nodes, "fitting": dict(zip(rules.split(","), fitting, strict=False)),
                       "reason": reason.partition(b"\0")[0].decode(errors="replace") if has_reason else None}}
