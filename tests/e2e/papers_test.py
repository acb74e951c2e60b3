#!/usr/bin/python3
"""`microbench/papers`: every finding has a row in docs/papers.md in the same words; studies are made and judged; other machines are planned for."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from harness import RDAM, Case

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
BUILD = pathlib.Path(RDAM).parents[2]
sys.path.insert(0, str(ROOT / "microbench"))
sys.path.insert(0, str(ROOT / "tools/python"))
sys.dont_write_bytecode = True

import numpy  # noqa: E402
import paper_findings  # noqa: E402
from paper_findings import FINDINGS, STUDIES, Agreement  # noqa: E402
from rdam.study import verdicts  # noqa: E402

EXPECTED = [*(f"A{number}" for number in range(1, 22)), *(f"B{number}" for number in range(1, 8)), *(f"D{number}" for number in range(1, 11))]


def verdict_of(second: float, noise: float = 0.001) -> verdicts.Verdict:
    """Of 31 rounds in which the second setting takes `second` times as long."""
    random = numpy.random.default_rng(1)
    rounds = numpy.arange(31)
    first, other = (factor * (1 + noise * random.standard_normal(31)) for factor in (1.0, second))
    return verdicts.study([(verdicts.Runs(first, rounds), verdicts.Runs(other, rounds))])[0]


class Papers(Case):
    def papers(self, *arguments: str, **environment: str) -> str:
        run = subprocess.run([sys.executable, ROOT / "microbench/papers", "--build", BUILD, *arguments], capture_output=True,
                             text=True, check=False, env={**os.environ, **environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_every_finding_is_there(self):
        self.assertEqual([finding.name for finding in FINDINGS], EXPECTED)
        self.assertEqual({name for finding in FINDINGS for name in finding.studies}, STUDIES.keys())

    def test_documentation_has_each_in_the_same_words(self):
        rows = re.findall(r"^\| ([ABD]\d+) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", (ROOT / "docs/papers.md").read_text(), re.MULTILINE)
        self.assertEqual([row[:3] for row in rows], [(finding.name, finding.place, finding.text) for finding in FINDINGS])
        # What two processors can show is there, and nothing else.
        for (_, _, _, here, agrees), finding in zip(rows, FINDINGS, strict=True):
            with self.subTest(finding.name):
                self.assertEqual(here.startswith(("needs ", "rdam does not have")), bool(finding.lacks or (finding.needs not in ("", "counters"))))
                self.assertIn(agrees, {each.value for each in Agreement})

    def test_a_study_is_made_and_judged(self):
        text = self.papers("--quick", "B6")
        found = re.search(r"three settings that do nothing: ratios of medians \d\.\d+, \d\.\d+, \d\.\d+; (\d) declared", text)
        self.assertTrue(found, text)
        # A machine whose other users come and go may make a difference.
        self.assertIn("agrees: yes" if found[1] == "0" else "agrees: no", text)

    def test_a_study_that_was_made_is_taken(self):
        self.papers("--quick", "--folder", str(self.folder / "studies"), "B6")
        kept = self.folder / "studies/nothing.jsonl"
        before = kept.read_bytes()
        text = self.papers("--folder", str(self.folder / "studies"), "B6", "--markdown")
        self.assertEqual(kept.read_bytes(), before)
        self.assertRegex(text, r"\| B6 \| .*; (0 declared \| yes|[123] declared \| no) \|")
        self.assertIn("| A1 | §3, figs. 2, 3 |", text)

    def test_what_needs_another_machine_is_planned_on_the_papers(self):
        text = self.papers("A10", HWLOC_SYNTHETIC="core:2 1")
        self.assertIn("needs at least four cores", text)
        # On the Clovertown neighbours share the second-level cache: 0 and 4, 1 and 5.
        self.assertRegex(text, r"pin compact, co-runners 0 +0,4,2,6\n")
        self.assertRegex(text, r"pin scatter, co-runners 0 +0,1,2,3\n")

    def test_unknown_finding(self):
        run = subprocess.run([sys.executable, ROOT / "microbench/papers", "--build", BUILD, "A99"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("A99 is no finding", run.stderr)

    def test_agreement(self):
        faster, slower, alike, vague = verdict_of(0.9), verdict_of(1.1), verdict_of(1.0), verdict_of(1.0, noise=0.2)
        for judge, wanted in ((paper_findings.less, "yes,no,not shown,not shown"), (paper_findings.more, "no,yes,not shown,not shown"),
                              (paper_findings.same, "no,no,yes,not shown")):
            self.assertEqual(",".join(judge(each).value for each in (faster, slower, alike, vague)), wanted)
        self.assertEqual(paper_findings.together([Agreement.YES, Agreement.NOT_SHOWN]), Agreement.NOT_SHOWN)
        self.assertEqual(paper_findings.together([Agreement.YES, Agreement.NOT_SHOWN, Agreement.NO]), Agreement.NO)


if __name__ == "__main__":
    unittest.main()
