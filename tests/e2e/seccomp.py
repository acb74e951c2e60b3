"""System calls that fail from here on, as in a container: a filter of the kernel's (seccomp)."""

import ctypes
import errno
import struct
from collections.abc import Callable, Iterable

NUMBERS = {"open": 2, "poll": 7, "mremap": 25, "madvise": 28, "clone": 56, "vfork": 58, "setpriority": 141, "sched_setscheduler": 144,
           "mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239, "perf_event_open": 298,
           "process_vm_readv": 310, "sched_setattr": 314, "memfd_create": 319, "pidfd_open": 434, "clone3": 435}

LOAD, JUMP, GIVE = 0x20, 0x15, 0x06  # BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ, BPF_RET
REFUSE, ALLOW, KILL = 0x00050000, 0x7fff0000, 0x80000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


def give_up_privileges():
    """In a child, before it becomes a program: no program gives it more rights than it has."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs cannot be set here")


def forbid(names: Iterable[str], error: int | None = errno.EPERM) -> Callable[[], None]:
    """What makes the system calls of these names fail (without an error: end the process), for whatever is executed too; to be
    called in a child before it becomes a program.
    That raises OSError where no filter can be set."""
    numbers = [NUMBERS[name] for name in names]
    jumps = [(JUMP, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    rules = b"".join(struct.pack("HBBI", *rule) for rule in (
        (LOAD, 0, 0, 0), *jumps, (GIVE, 0, 0, ALLOW), (GIVE, 0, 0, KILL if error is None else REFUSE | error)))

    def act():
        give_up_privileges()
        memory = ctypes.create_string_buffer(rules)
        program = struct.pack("HxxxxxxQ", len(rules) // 8, ctypes.addressof(memory))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no seccomp filter can be set here")

    return act
