"""Counts test cases in what `meson test` has logged.

One Meson test is a Catch2 program with many test cases, a Python unittest, or a script that is one test case. A
program says itself how many of its test cases passed; a line `skipped: <reason>` in its output stands for one test case
that could not be run here. A script that exits with 77 is skipped as a whole.
"""

import dataclasses
import json
import re

CATCH_ALL_PASSED = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)", re.MULTILINE)
CATCH_COUNTS = re.compile(r"^test cases:\s*\d+(.*)$", re.MULTILINE)
CATCH_NOTHING = re.compile(r"^No tests ran", re.MULTILINE)
CATCH_COUNT = re.compile(r"(\d+) (passed|failed as expected|failed)")
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n+(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
# Catch2 breaks the text of a WARN into indented lines.
SKIPPED = re.compile(r"^[ \t]*skipped: *(.*(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
UNITTEST_SKIPPED = re.compile(r"skipped=(\d+)")

MESON_GOOD = {"OK", "EXPECTEDFAIL"}


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: list[str] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: "Counts") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def line(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {len(self.skipped)} skipped" if self.skipped else text


def _catch_counts(stdout: str) -> tuple[int, int] | None:
    """Test cases that passed and failed, or None if `stdout` holds no summary of Catch2's."""
    if found := CATCH_ALL_PASSED.findall(stdout):
        return int(found[-1]), 0
    if found := CATCH_COUNTS.findall(stdout):
        counts = {kind: int(number) for number, kind in CATCH_COUNT.findall(found[-1])}
        return counts.get("passed", 0) + counts.get("failed as expected", 0), counts.get("failed", 0)
    if CATCH_NOTHING.search(stdout):
        return 0, 0
    return None


def _unittest_counts(output: str) -> tuple[int, int] | None:
    """The same of Python's unittest; what it skipped is among what it passed."""
    found = UNITTEST.findall(output)
    if not found:
        return None
    ran, details = found[-1]
    bad = min(int(ran), sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", details)))
    return int(ran) - bad, bad


def count_test(entry: dict) -> Counts:
    """The test cases of one line of testlog.json."""
    name, result = entry["name"], entry["result"]
    stdout, stderr = entry.get("stdout") or "", entry.get("stderr") or ""
    reasons = [" ".join(reason.split()) for reason in SKIPPED.findall(stdout + "\n" + stderr)]
    if result == "SKIP":
        return Counts(skipped=[f"{name}: {reasons[-1] if reasons else 'gives no reason'}"])

    counted = _catch_counts(stdout)
    if counted is None:
        counted = _unittest_counts(stderr)
        silent = sum(map(int, UNITTEST_SKIPPED.findall(stderr))) - len(reasons)
        reasons += ["gives no reason"] * max(0, silent if counted else 0)
    passed, failed = counted or ((1, 0) if result in MESON_GOOD and not reasons else (0, 0))
    if counted:
        passed -= min(passed, len(reasons))
    if (result not in MESON_GOOD and failed == 0) or (passed == 0 and failed == 0 and not reasons):
        failed += 1  # a crash, a time-out, a leak after the last test case; or a program without test cases
    counts = Counts(passed, failed, [f"{name}: {reason}" for reason in reasons])
    if failed:
        counts.failures.append(f"{name} ({result.lower()})")
    return counts


def count_log(path: str) -> Counts:
    total = Counts()
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            if line.strip():
                total.add(count_test(json.loads(line)))
    return total
