#!/usr/bin/python3
"""First bytes that are hard to move: the function does what it did, every call is counted, or the refusal has a reason."""

import re
import unittest

from harness import PROGRAMS, Case

EVERY_CALL = ("marked", "rip_load", "rip_compare", "short_jcc", "near_jcc", "short_jump", "near_jump", "near_call", "helper",
              "loop_to_entry", "loop_into_moved", "loop_instruction", "short_padded", "one_byte", "after_squeezed",
              "split")


class Recorded(Case):
    def record(self, *functions: str, program="entries", status=6):
        return self.unchanged(",".join(functions), PROGRAMS / program, status=status, options=["-v"]).stderr.decode()


class Entries(Recorded):
    def test_first_bytes(self):
        said = self.record(*EVERY_CALL)
        self.assertEqual(self.counts(), dict.fromkeys(EVERY_CALL, 100), said)

    def test_two_names_of_one_address(self):
        said = self.record("first_name", "second_name")
        self.assertEqual(list(self.counts().values()), [200], said)

    def test_indirect_function(self):
        said = self.record("chosen")
        self.assertEqual(list(self.counts().values()), [100], said)

    def test_ten_million_tail_calls(self):
        said = self.record("ping", "pong")
        self.assertEqual(self.counts(), {"ping": 5000001, "pong": 5000000}, said)

    def test_a_short_function_uses_the_padding_before_it(self):
        said = self.record("before_squeezed", "first_name")
        # What precedes it is short, too, and needs some of the padding between them.
        self.assertEqual(self.counts(), {"before_squeezed": 100, "first_name (also second_name)": 200}, said)

    def test_no_room_is_refused_with_the_reason(self):
        said = self.record("squeezed", "marked")
        self.assertEqual(self.counts(), {"marked": 100}, said)
        self.assertIn("skipped entries:squeezed: shorter than the patch (3 of 5 bytes), without padding behind it\n", said)

    def test_cold_parts_are_never_patched(self):
        said = self.record("split", "split.cold")
        self.assertEqual(self.counts(), {"split": 100}, said)
        self.assertIn("skipped entries:split.cold: is the cold part of a function, which is jumped to and not called\n", said)

    def last_function_of(self, section: str, name: str) -> int:
        """Of the program `clones`, which must end the section with it: how many bytes there are up to the next section."""
        sections = self.run_in_folder("readelf", "-SW", PROGRAMS / "clones").stdout.decode()
        symbols = self.run_in_folder("readelf", "-sW", PROGRAMS / "clones").stdout.decode()
        found = re.findall(r" (\S+) +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections)
        places = {name: (int(begin, 16), int(size, 16)) for name, begin, size in found}
        end = sum(places[section])
        last = re.search(rf"([0-9a-f]+) +1 FUNC .* {name}\n", symbols)
        self.assertEqual(int(last.group(1), 16) + 1, end)
        return min(begin for begin, _ in places.values() if begin >= end) - end

    def test_last_byte_of_the_code(self):
        self.assertEqual(self.last_function_of(".text", "last_byte"), 0)
        said = self.record("last_byte", "twin_of_other", program="clones", status=3)
        self.assertEqual(self.counts(), {"twin_of_other": 100}, said)
        self.assertIn("skipped clones:last_byte: shorter than the patch (1 of 5 bytes), without padding behind it\n", said)

    def test_what_nobody_has_behind_a_section_serves_as_padding(self):
        self.assertEqual(self.last_function_of("last_section", "last_of_section"), 15)
        said = self.record("last_of_section", program="clones", status=3)
        self.assertEqual(self.counts(), {"last_of_section": 100}, said)


class Clones(Recorded):
    """What compilers make of functions, with -fcf-protection=full."""

    CLONES = {"specialised.constprop.0": 200, "scalars.isra.0": 100, "guarded.part.0": 100}

    def record_clones(self, *functions: str) -> str:
        return self.record(*functions, program="clones", status=3)

    def test_the_program_is_what_it_is_meant_to_be(self):
        code = self.run_in_folder("objdump", "-d", "--no-show-raw-insn", PROGRAMS / "clones").stdout.decode()
        for name in ("uses_guarded", "uses_guarded_too", "twin_of_other"):
            self.assertRegex(code, rf"<{name}>:\n.*\bendbr64")
        for name in self.CLONES:
            self.assertIn(f"<{name}>:", code)
        # The program's own count of the calls of each clone.
        told = self.run_in_folder(PROGRAMS / "clones").stdout.decode().split()[-3:]
        self.assertEqual([int(count) for count in told], list(self.CLONES.values()))

    def test_names_as_perf_prints_them(self):
        said = self.record_clones(*self.CLONES, "uses_guarded", "uses_guarded_too")
        self.assertEqual(self.counts(), {**self.CLONES, "uses_guarded": 100, "uses_guarded_too": 100}, said)

    def test_names_in_the_source(self):
        said = self.record_clones("specialised", "scalars", "guarded")
        self.assertEqual(self.counts(), self.CLONES, said)
        for name, clone in (("specialised", "specialised.constprop.0"), ("scalars", "scalars.isra.0"), ("guarded", "guarded.part.0")):
            self.assertIn(f"'{name}': wrapped clones:{clone}: as {clone}, the compiler's copy of {name}", said)

    def test_static_functions_of_one_name(self):
        said = self.record_clones("clones.c:twin")
        self.assertEqual(self.counts(), {"twin": 100}, said)
        said = self.record_clones("clones_other.c:twin")
        self.assertEqual(self.counts(), {"twin": 200}, said)
        said = self.record_clones("twin")
        rows = [(f["name"], f["occurrences"]) for f in self.analyze()["functions"]]
        self.assertEqual(sorted(rows), [("twin", 100), ("twin", 200)], said)
        said = self.record_clones("twin_of_other", "elsewhere.c:twin")
        self.assertEqual(self.counts(), {"twin_of_other": 100}, said)
        self.assertIn("'elsewhere.c:twin': not found", said)


class Versions(Recorded):
    """A library with two versions of a symbol, both of which the program calls, and an IFUNC."""

    def occurrences(self, *functions: str) -> list[int]:
        self.said = self.record(*functions, program="uses_versions", status=5)
        return sorted(f["occurrences"] for f in self.analyze()["functions"])

    def test_versions(self):
        self.assertEqual(self.occurrences("versioned"), [100], self.said)
        self.assertEqual(self.occurrences("versioned@@VERSIONS_2"), [100], self.said)
        self.assertEqual(self.occurrences("versioned@VERSIONS_1"), [25], self.said)
        self.assertEqual(self.occurrences("versioned", "versioned@VERSIONS_1"), [25, 100], self.said)

    def test_indirect_function_of_a_library(self):
        self.assertEqual(self.occurrences("chosen_in_library"), [100], self.said)
        self.assertIn("its implementation here is chosen_there", self.said)


if __name__ == "__main__":
    unittest.main()
