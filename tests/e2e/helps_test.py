#!/usr/bin/python3
"""Every command of the tree that is written in Python says how it is used."""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
FOLDERS = ("microbench", "tools", "tests/stress")


def commands() -> list[pathlib.Path]:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).iterdir()) if path.is_file() and os.access(path, os.X_OK)]
    return [path for path in files if "python" in path.read_bytes().partition(b"\n")[0].decode(errors="replace")]


class Helps(unittest.TestCase):
    def test_each(self):
        found = commands()
        self.assertIn(ROOT / "microbench/coverage", found)
        for path in found:
            with self.subTest(path.relative_to(ROOT)):
                done = subprocess.run([sys.executable, path, "--help"], capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.startswith("usage: "), done.stdout)


if __name__ == "__main__":
    unittest.main()
