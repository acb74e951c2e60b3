#!/usr/bin/python3
"""microbench/network-rates: memcached and its clients are recorded over each link that can be made, and what cannot is said."""

import os
import pathlib
import re
import shutil
import sys
import unittest

from harness import Case

RATES = pathlib.Path(os.environ["SOURCE_ROOT"]) / "microbench/network-rates"
BUILD = pathlib.Path(os.environ["RDAM"]).parents[2]
PAGE = "# A page\n\n<!-- networks: written by a command, see there -->\n<!-- end of networks -->\n"


def numbers(cell: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"[\d,]+(?:\.\d+)?", cell)]


class NetworkRates(Case):
    def test_each_link(self):
        self.need("memcached", "memcaslap")
        page = self.folder / "page.md"
        page.write_text(PAGE)
        done = self.run_in_folder(RATES, "--build", BUILD, "--rounds", 1, "--seconds", 1, "--page", page)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")]
        beside = {row[0].strip(): row for row in rows if len(row) == 9}
        self.assertEqual(beside["loopback"][1:5], ["0.62", "< 0.1", "2,037,000", "632"])
        each = {row[0]: row for row in rows if len(row) == 8}
        for link in ("100 Mb/s", "1 Gb/s", "loopback"):
            row = beside[link]
            if row[5].startswith("not measured"):
                self.assertNotEqual(link, "loopback")
                self.assertRegex(row[5], r"^not measured: \w")
                print(f"{link}: {row[5]}", flush=True)
                continue
            client, server, transactions, megabytes = (numbers(cell)[0] for cell in row[5:])
            self.assertTrue(0 < client <= 1 and 0 <= server <= 1, row)
            # 64 + 200 bytes of key and value, and some tens of words, for each transaction.
            self.assertTrue(250 < megabytes * 1e6 / transactions < 400, row)
            self.assertEqual([cell for cell in each[link] if cell == "not called"], [])
            self.assertGreater(numbers(each[link][7])[0], 0)
        self.assertIn(text.strip(), page.read_text())

    def refused(self, words: str, *options):
        done = self.run_in_folder(sys.executable, RATES, "--build", BUILD, *options, env={"PATH": str(self.folder / "bin")})
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout, said.count("\n")), (1, b"", 1), said)
        self.assertIn(words, said)

    def test_without_what_it_needs(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/memcached").symlink_to(shutil.which("true"))
        self.refused("network-rates: not installed: memcaslap (apt install memcached libmemcached-tools)")
        (self.folder / "bin/memcaslap").symlink_to(shutil.which("true"))
        page = self.folder / "page.md"
        page.write_text("# A page\n")
        self.refused("page.md: has not the two lines", "--page", page)
        self.refused("memcached did not start", "--rounds", 1)
        self.assertEqual(self.run_in_folder(RATES, "--build", self.folder).returncode, 2)


if __name__ == "__main__":
    unittest.main()
