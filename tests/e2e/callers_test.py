#!/usr/bin/python3
"""Functions that look at their caller, return twice or switch stacks, all on the list at once: each is wrapped as any other or left
alone with the reason, and the program that uses them all does what it does without the recorder."""

import re
import unittest

from harness import PROGRAMS, Case

RETURNS_TWICE = "returns twice, the second time into a frame that is gone"
OTHER_STACK = "switches to another stack"
NEW_THREAD = "returns on another stack in the new thread or process"
WALKS = "walks the stack it is called on"
THROWS = "belongs to the throwing of exceptions, which unwinds the stack it is called on"
ASKS = "behaves according to its caller's object, which would be the recorder"
LINKER = "belongs to the dynamic linker, which the recorder needs for itself"
LINKER_FILE = "belongs to the dynamic linker, which the recorder itself depends on"
LOOKS = r"reads its return address (at +N), which would point into the recorder"

REFUSED = {
    "asks_who_calls": LOOKS, "asks_through_a_frame": LOOKS,
    "setjmp": RETURNS_TWICE, "_setjmp": RETURNS_TWICE, "__sigsetjmp": RETURNS_TWICE, "vfork": RETURNS_TWICE, "getcontext": RETURNS_TWICE,
    "swapcontext": OTHER_STACK, "setcontext": OTHER_STACK, "makecontext": OTHER_STACK,
    "clone": NEW_THREAD, "__clone3": NEW_THREAD,
    "backtrace": WALKS, "_Unwind_Backtrace": WALKS, "_Unwind_GetIP": WALKS, "_Unwind_FindEnclosingFunction": WALKS,
    "_Unwind_RaiseException": WALKS, "_Unwind_Resume": WALKS, "_Unwind_ForcedUnwind": WALKS, "__gxx_personality_v0": WALKS,
    "__cxa_throw": THROWS, "__cxa_begin_catch": THROWS, "__cxa_end_catch": THROWS,
    "dlsym": ASKS, "dlvsym": ASKS, "dlopen": ASKS, "dlmopen": ASKS, "dladdr": ASKS,
    "dl_iterate_phdr": LINKER, "_dl_find_object": LINKER, "_dl_catch_exception": LINKER,
    "__tls_get_addr": LINKER_FILE, "_dl_fixup": LINKER_FILE, "_dl_runtime_resolve_xsavec": LINKER_FILE,
}
# longjmp and siglongjmp are one function: five calls of each.
WRAPPED = {"calls_both": 1, "jumps": 10, "longjmp": 10, "walks": 1, "throws": 9, "pthread_exit": 1, "plugin_keep": 2}


class Callers(Case):
    def check(self, *options: str):
        plain = self.run_in_folder(PROGRAMS / "callers")
        self.assertEqual(plain.returncode, 14, plain.stderr.decode())
        self.assertIn(b"called by calls_both\n", plain.stdout)
        functions = ",".join([*REFUSED, *WRAPPED, "siglongjmp"])
        done = self.rdam("record", *options, "-v", "-f", functions, "--", PROGRAMS / "callers")
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (14, plain.stdout), said)
        reasons: dict[str, set[str]] = {}
        for name, reason in re.findall(r"^rdam: '([^']+)': skipped \S+: (.*)$", said, re.MULTILINE):
            reasons.setdefault(name, set()).add(re.sub(r"\+\d+", "+N", reason))
        expected = {name: {reason} for name, reason in REFUSED.items()}
        # libc has had it, too, before it was the dynamic linker's alone (glibc 2.41).
        if reasons.get("_dl_catch_exception") == {LINKER_FILE}:
            expected["_dl_catch_exception"] = {LINKER_FILE}
        self.assertEqual(reasons, expected, said)
        self.assertEqual(self.counts(), WRAPPED, said)
        return reasons

    def test_all_at_once(self):
        for name, reason in self.check().items():
            print(f"skipped: {name}: {'; '.join(reason)}")

    def test_a_stack_at_every_call(self):
        self.check("--stack-period", "1")


if __name__ == "__main__":
    unittest.main()
