#!/usr/bin/python3
"""How many test cases passed is read from the tests' own words."""

import sys
import unittest

sys.path.insert(0, sys.argv[1])
import results


def entry(result: str, stdout: str = "", stderr: str = "") -> dict:
    return {"name": "t", "result": result, "stdout": stdout, "stderr": stderr}


def counted(result: str, stdout: str = "", stderr: str = "") -> tuple[int, int, int]:
    counts = results.count_test(entry(result, stdout, stderr))
    return counts.passed, counts.failed, len(counts.skipped)


ALL_PASSED = "====\nAll tests passed (12 assertions in 3 test cases)\n"
SOME_FAILED = "====\ntest cases:  5 |  3 passed | 2 failed\nassertions: 40 | 38 passed | 2 failed\n"
AS_EXPECTED = "test cases: 3 | 2 passed | 1 failed as expected\nassertions: 4 | 3 passed | 1 failed as expected\n"


class Counting(unittest.TestCase):
    def test_catch2(self):
        self.assertEqual(counted("OK", ALL_PASSED), (3, 0, 0))
        self.assertEqual(counted("OK", "All tests passed (1 assertion in 1 test case)\n"), (1, 0, 0))
        self.assertEqual(counted("FAIL", SOME_FAILED), (3, 2, 0))
        self.assertEqual(counted("OK", AS_EXPECTED), (3, 0, 0))

    def test_a_failure_that_the_summary_does_not_know_counts(self):
        self.assertEqual(counted("FAIL", ALL_PASSED), (3, 1, 0))
        self.assertEqual(counted("TIMEOUT", "half a li"), (0, 1, 0))
        self.assertEqual(counted("OK", "No tests ran\n"), (0, 1, 0))

    def test_scripts(self):
        self.assertEqual(counted("OK", "all is well\n"), (1, 0, 0))
        self.assertEqual(counted("FAIL", "2 is not 3\n"), (0, 1, 0))
        self.assertEqual(counted("ERROR"), (0, 1, 0))

    def test_unittest(self):
        self.assertEqual(counted("OK", "", "...\nRan 3 tests in 0.1s\n\nOK\n"), (3, 0, 0))
        self.assertEqual(counted("FAIL", "", "Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n"), (1, 2, 0))
        self.assertEqual(counted("FAIL", "", "Ran 1 test in 0.1s\n\nFAILED (failures=4)\n"), (0, 1, 0))

    def test_skipped_with_its_reason(self):
        counts = results.count_test(entry("SKIP", "skipped: no such machine\n"))
        self.assertEqual((counts.passed, counts.failed, counts.skipped), (0, 0, ["t: no such machine"]))
        self.assertEqual(counted("SKIP"), (0, 0, 1))
        self.assertEqual(counted("OK", "skipped: no samples here\n" + ALL_PASSED), (2, 0, 1))
        self.assertEqual(counted("OK", ALL_PASSED, "skipped: no such disk\n"), (2, 0, 1))
        warned = results.count_test(entry("OK", "a.cpp:3: warning:\n  skipped: no\n  compiler\n\n" + ALL_PASSED))
        self.assertEqual(warned.skipped, ["t: no compiler"])

    def test_skipped_by_unittest(self):
        summary = "Ran 3 tests in 0.1s\n\nOK (skipped=1)\n"
        self.assertEqual(counted("OK", "", summary), (2, 0, 1))
        counts = results.count_test(entry("OK", "skipped: no perf\n", summary))
        self.assertEqual((counts.passed, counts.skipped), (2, ["t: no perf"]))

    def test_the_last_line(self):
        total = results.Counts()
        total.add(results.count_test(entry("OK", ALL_PASSED)))
        self.assertEqual(total.line(), "3 passed, 0 failed")
        total.add(results.count_test(entry("FAIL", SOME_FAILED)))
        total.add(results.count_test(entry("SKIP")))
        self.assertEqual(total.line(), "6 passed, 2 failed, 1 skipped")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
