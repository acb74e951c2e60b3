#!/usr/bin/python3
"""First bytes that are hard to move: the function does what it did, every call is counted, or the refusal has a reason."""

import unittest

from harness import PROGRAMS, Case

EVERY_CALL = ("marked", "rip_load", "rip_compare", "short_jcc", "near_jcc", "short_jump", "near_jump", "near_call", "helper",
              "loop_to_entry", "loop_into_moved", "loop_instruction", "short_padded", "one_byte", "after_squeezed",
              "split")


class Entries(Case):
    def record(self, *functions: str):
        plain = self.run_in_folder(PROGRAMS / "entries")
        self.assertEqual(plain.returncode, 6)
        done = self.rdam("record", "-v", "-f", ",".join(functions), "--", PROGRAMS / "entries")
        self.assertEqual(done.returncode, 6, done.stderr.decode())
        self.assertEqual(done.stdout, plain.stdout, done.stderr.decode())
        return done.stderr.decode()

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

    def test_no_room_is_refused_with_the_reason(self):
        short = ("before_squeezed", "squeezed")
        said = self.record(*short, "marked")
        counts = self.counts()
        self.assertEqual(counts.pop("marked"), 100, said)
        for name in short:
            with self.subTest(name):
                if name in counts:
                    self.assertEqual(counts[name], 100, said)
                else:
                    self.assertRegex(said, f"left entries:{name} alone: shorter than the patch")

    def test_cold_parts_are_never_patched(self):
        said = self.record("split", "split.cold")
        self.assertEqual(self.counts(), {"split": 100}, said)
        self.assertIn("split.cold", said)


if __name__ == "__main__":
    unittest.main()
