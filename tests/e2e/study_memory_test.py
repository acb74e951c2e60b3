#!/usr/bin/python3
"""`rdam study --memory`: each page is where the policy of its area says, whatever number of nodes the machine has; programs do what they do
without it; and what is left alone is told in a line.

On one node every page is there. study_memory_guest_test.py runs this test where there are four."""

import ctypes
import errno
import json
import os
import pathlib
import re
import struct
import sys
import unittest

from harness import PROGRAMS, RDAM
from study_test import Studies

NODES = sorted(int(folder.name[4:]) for folder in pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))
PROCESSORS = sorted(os.sched_getaffinity(0))
BY_PAGE = ("cyclic", "skew_mapp", "prime_mapp", "random")
STATIC = {"u", "rhs", "common_", "initialised", "little"}
LARGE = {"u", "rhs", "common_", "initialised", "make_grid", "calloc", "realloc", "posix_memalign", "aligned_alloc", "mmap"}


def node_of(processor: int) -> int:
    (folder,) = pathlib.Path(f"/sys/devices/system/cpu/cpu{processor}").glob("node[0-9]*")
    return int(folder.name[4:])


def planned(policy: str, pages: int, first_page: int, threads: list[int]) -> list[int]:
    """RR-7330, table 5, and what Linux documents of MPOL_INTERLEAVE. `threads`: the node of each."""
    count = len(NODES)
    if policy in ("bind_block", "first-touch"):  # whoever uses a block is its thread
        return [threads[page * len(threads) // pages] for page in range(pages)]
    if policy.startswith("bind:"):
        return [int(policy[5:])] * pages
    if policy == "prime_mapp":
        banks = next(number for number in range(max(count, 2), 10 * count + 2) if all(number % each for each in range(2, number)))
        plan, rest = [], 0
        for page in range(pages):
            bank = page % banks
            if bank >= count:
                bank, rest = rest % count, rest + 1
            plan.append(bank)
    else:
        plan = [{"cyclic": page, "skew_mapp": page + page // count + 1, "interleave": first_page + page}[policy] % count for page in range(pages)]
    return [NODES[place] for place in plan]


def without_large_pages():
    """In a child: a large page is on one node, whoever uses or interleaves its parts."""
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE


class Memory(Studies):
    def setUp(self):
        super().setUp()
        folder = next(pathlib.Path(RDAM).resolve().parents[2].rglob("librdam-memory.so")).parent
        self.library, self.pin = folder / "librdam-memory.so", folder / "librdam-pin.so"
        self.account = self.folder / "account"

    def run_placed(self, rules: str, *arguments, program="placed", small_pages=False, **variables):
        self.account.write_bytes(b"memory1".ljust(840, b"\0"))
        return self.run_in_folder(PROGRAMS / program, *(arguments or ["1"]), preexec_fn=without_large_pages if small_pages else None, env={
            "LD_PRELOAD": str(self.library), "RDAM_MEMORY_RULES": rules, "RDAM_MEMORY_FILE": str(self.account), **variables})

    def placed(self, rules: str, *arguments, **variables) -> dict[str, dict]:
        """By area."""
        done = self.succeeded(self.run_placed(rules, *arguments, **variables))
        self.assertEqual(done.stderr, b"")
        return {line["area"]: line for line in map(json.loads, done.stdout.decode().splitlines())}

    def accounted(self) -> dict:
        fields = struct.unpack("8s7Q64QQ256s", self.account.read_bytes())
        names = ("processes", "areas", "pages", "elsewhere", "left_alone", "placing_ns", "nodes")
        return {**dict(zip(names, fields[1:8], strict=True)), "fitting": fields[8:72], "reason": fields[73].partition(b"\0")[0].decode()}

    def pinned(self, order: list[int]) -> dict[str, str]:
        return {"LD_PRELOAD": f"{self.library}:{self.pin}", "RDAM_PIN_PLACES": ",".join(map(str, order)), "RDAM_PIN_ROOT": "0" * 10}

    def assert_planned(self, found: dict, policy: str, threads=()) -> None:
        """All of its pages, but for the first and the last one of a variable, which may hold parts of others, whose policy came last; and for the
        first one of what is allocated, on which malloc() has written before the kernel was told to interleave."""
        shift = 0
        if policy == "interleave" and found["area"] == "initialised":  # counted in the file, of which it is a part
            shift = (NODES.index(found["nodes"][1]) - found["first_page"] - 1) % len(NODES)
        expected = planned(policy, len(found["nodes"]), found["first_page"] + shift, list(threads))
        is_static = found["area"] in STATIC
        pages = range(int(is_static or policy == "interleave"), len(expected) - int(is_static))
        wrong = {page: (found["nodes"][page], expected[page]) for page in pages if found["nodes"][page] != expected[page]}
        self.assertFalse(wrong, f"{found['area']} by {policy}: node and expected node by page")


class Pages(Memory):
    def test_policies_by_page_put_each_page_where_their_formula_says(self):
        for policy in ("cyclic", "skew_mapp", "prime_mapp", "interleave", f"bind:{NODES[-1]}"):
            found = self.placed(policy, small_pages=policy == "interleave")
            for area in LARGE - ({"realloc"} if policy == "interleave" else set()):  # half of which is there before
                self.assert_planned(found[area], policy)
            account = self.accounted()
            # Of realloc() the first allocation, too, what is then mapped again, and what was reserved only.
            self.assertEqual((account["areas"], account["left_alone"], account["elsewhere"], account["nodes"]), (len(LARGE) + 2, 1, 0, len(NODES)))
            self.assertIn("MAP_NORESERVE", account["reason"])
            self.assertEqual(account["pages"] > 0, policy in BY_PAGE)

    def test_random_draws_every_node_and_other_pages_from_another_seed(self):
        draws = [self.placed("random", RDAM_MEMORY_SEED=seed) for seed in ("1", "1", "2")]
        for area in LARGE:
            first, again, other = ([node for node in found[area]["nodes"]] for found in draws)
            self.assertEqual(first, again)
            for node in NODES:  # of at least 288 pages: five standard deviations
                self.assertAlmostEqual(first.count(node) / len(first), 1 / len(NODES), delta=0.15)
            if len(NODES) > 1:
                self.assertNotEqual(first, other)
        self.assertEqual(self.accounted()["elsewhere"], 0)

    def test_blocks_go_to_the_nodes_of_the_threads(self):
        orders = [PROCESSORS, PROCESSORS[::-1], PROCESSORS[1::2] + PROCESSORS[::2], PROCESSORS[:1]]
        # The main thread is the first to use these three, or the loader. Memory that grows may be copied into large pages.
        ways = [("bind_block", True, set()), ("bind_block", False, {"realloc"}), ("first-touch", True, {"calloc", "realloc", "initialised"})]
        for policy, small_pages, others in ways:
            for order in orders:
                found = self.placed(policy, len(order), small_pages=small_pages, **self.pinned(order))
                for area in LARGE - others:
                    self.assert_planned(found[area], policy, map(node_of, order))

    def test_each_area_has_the_policy_of_the_first_rule_that_fits(self):
        rules = {"u": "skew_mapp", "rhs": "bind_block", "common": "cyclic", "@make_grid": "prime_mapp", "..2000K": f"bind:{NODES[0]}",
                 "": "cyclic"}
        text = ",".join(f"{what}={policy}" if what else policy for what, policy in rules.items())
        found = self.placed(text, len(PROCESSORS), small_pages=True, **self.pinned(PROCESSORS))
        for area, policy in {"u": "skew_mapp", "rhs": "bind_block", "common_": "cyclic", "make_grid": "prime_mapp", "calloc": f"bind:{NODES[0]}",
                             "initialised": f"bind:{NODES[0]}", "realloc": "cyclic", "mmap": "cyclic", "posix_memalign": f"bind:{NODES[0]}",
                             "little": f"bind:{NODES[0]}"}.items():
            if area == "mmap":  # 2 MiB are more than 2000K
                self.assertEqual(len(found[area]["nodes"]), 512)
            self.assert_planned(found[area], policy, map(node_of, PROCESSORS))
        self.assertTrue(all(self.accounted()["fitting"][:6]), self.accounted())

    def test_parts_of_a_common_block_have_policies_of_their_own(self):
        found = self.placed("common[..400K]=cyclic,common[400K..]=skew_mapp,common[1G..]=random,u[2M..2100K]=prime_mapp,u=bind:0")
        for area, begin, end, policy in (("common_", 0, 400, "cyclic"), ("common_", 400, 1200, "skew_mapp"), ("u", 2048, 2100, "prime_mapp")):
            first, last = ((found[area]["begin"] + kib * 1024) // 4096 - found[area]["first_page"] for kib in (begin, end))
            part = {"area": area, "nodes": found[area]["nodes"][first:last + 1], "first_page": 0}
            self.assert_planned(part, policy)
        self.assertEqual(set(found["u"]["nodes"][1:500]), {0})
        account = self.accounted()
        self.assertEqual((account["areas"], account["left_alone"], account["fitting"][:5]), (4, 1, (1, 1, 1, 1, 1)))
        self.assertRegex(account["reason"], r"\Acommon_ \(\d+ KiB\): it has no such bytes")

    def test_small_areas_are_nobodys_affair(self):
        self.assertEqual(set(self.placed("cyclic")), LARGE | {"little"})
        little = self.placed("little=cyclic")["little"]
        self.assert_planned(little, "cyclic")
        self.assertEqual(self.accounted()["pages"], len(little["nodes"]))
        self.placed("nobody=cyclic")
        self.assertEqual((self.accounted()["processes"], self.accounted()["areas"]), (1, 0))

    def test_a_file_without_symbols_has_one_area(self):
        self.succeeded(self.run_placed("bind_block", program="placed_stripped", **self.pinned(PROCESSORS)))
        self.assertRegex(self.accounted()["reason"], r"\Aa \.bss \(\d+ KiB\): the file has no symbols")
        done = self.succeeded(self.run_placed("cyclic", program="placed_stripped"))
        areas = {line["area"]: line for line in map(json.loads, done.stdout.decode().splitlines())}
        begin = min(areas[name]["first_page"] for name in ("u", "rhs", "common_"))
        for name in ("u", "rhs", "common_"):
            # The first page of the .bss is the one in which .data ends: it may be the page before.
            starts = [[NODES[(page + areas[name]["first_page"] - begin + shift) % len(NODES)] for page in range(len(areas[name]["nodes"]))]
                      for shift in range(3)]
            self.assertIn(areas[name]["nodes"], starts)


class Doubts(Memory):
    def test_blocks_need_pinned_threads(self):
        self.placed("bind_block")
        self.assertIn("bind_block needs threads that are pinned", self.accounted()["reason"])
        self.assertEqual((self.accounted()["areas"], self.accounted()["left_alone"]), (0, len(LARGE) + 3))
        for order in ("9999", "x", f"{PROCESSORS[0]},", f"{PROCESSORS[0]};1"):
            self.run_placed("bind_block", RDAM_PIN_PLACES=order)
            self.assertEqual(self.accounted()["areas"], 0, order)

    def test_what_the_kernel_forbids_leaves_the_program_as_it_is(self):
        plain = {line["area"] for line in map(json.loads, self.succeeded(self.run_in_folder(PROGRAMS / "placed", "1")).stdout.decode().splitlines())}
        for call, error in (("get_mempolicy", errno.EPERM), ("get_mempolicy", errno.ENOSYS), ("mbind", errno.EPERM), ("set_mempolicy", errno.EPERM),
                            ("madvise", errno.EINVAL)):
            self.account.write_bytes(b"memory1".ljust(840, b"\0"))
            done = self.succeeded(self.forbidding([call], PROGRAMS / "placed", "1", error=error, env={
                "LD_PRELOAD": str(self.library), "RDAM_MEMORY_RULES": "cyclic", "RDAM_MEMORY_FILE": str(self.account)}))
            self.assertEqual({line["area"] for line in map(json.loads, done.stdout.decode().splitlines())}, plain)
            self.assertEqual(self.accounted()["areas"], 0)
            self.assertTrue(self.accounted()["reason"], call)

    def test_a_node_that_is_not_there_binds_nothing(self):
        self.placed(f"u=bind:{NODES[-1] + 1}")
        self.assertIn("a node that the program does not have", self.accounted()["reason"])

    def limits(self, rules: str, what: str) -> dict:
        """Under libraries that pin threads, so that no policy is refused."""
        done = self.succeeded(self.run_placed(rules, what, program="placed_limits", **self.pinned(PROCESSORS[:1])))
        self.assertEqual(done.stderr, b"")
        return self.accounted()

    def test_threads_with_the_smallest_stacks_run_on(self):
        for policy in (*BY_PAGE, "first-touch", "interleave", "bind_block", f"bind:{NODES[0]}", f"bind:{NODES[-1] + 1}"):
            account = self.limits(f"table=first-touch,@make_large={policy}", "stacks")
            self.assertEqual(account["fitting"][:2], (1, 4), policy)
            self.assertEqual(account["left_alone"], 4 * (policy == f"bind:{NODES[-1] + 1}"), account["reason"])

    def test_threads_that_allocate_at_once_leave_large_pages_as_they_were(self):
        account = self.limits("table=first-touch,bind_block", "at-once")
        self.assertEqual((account["areas"], account["left_alone"]), (4101, 0), account["reason"])

    def test_what_was_freed_does_not_count(self):
        for policy in ("bind_block", "interleave"):
            account = self.limits(f"table=first-touch,{policy}", "often")
            self.assertEqual((account["areas"], account["left_alone"]), (20_001, 0), account["reason"])

    def test_the_program_keeps_half_of_the_ranges_of_memory(self):
        account = self.limits("4K..8K=interleave", "ranges")
        self.assertIn("32,768 ranges of memory", account["reason"])
        self.assertTrue(15_000 < account["areas"] < 20_000, account)
        freed = self.limits("4K..8K=interleave,@make_large=interleave", "ranges")
        self.assertGreater(freed["fitting"][1], 0)
        self.assertGreater(freed["areas"], account["areas"] + 500)

    def test_read_only_tables_are_called_so(self):
        for policy in ("cyclic", "bind_block"):
            account = self.limits(f"table={policy}", "stacks")
            self.assertEqual((account["areas"], account["left_alone"]), (0, 1))
            self.assertRegex(account["reason"], r"\Atable \(3125 KiB\): it is read-only")

    def test_without_a_file_the_first_doubt_is_a_line_of_its_own(self):
        for rules, pattern in (("bind_block", r"librdam-memory: left alone: \w+ \(\d+ KiB\): bind_block needs threads .*"),
                               ("u=cyclic,rhs=cylic", r"librdam-memory: left alone: rhs=cylic: is no rule: .*")):
            done = self.succeeded(self.run_in_folder(PROGRAMS / "placed", "1", env={"LD_PRELOAD": str(self.library), "RDAM_MEMORY_RULES": rules}))
            self.assertRegex(done.stderr.decode(), rf"\A{pattern}\n\Z")

    def test_files_that_are_no_account_are_not_written_to(self):
        for content in (b"", b"memory1", b"mine".ljust(2000)):
            self.account.write_bytes(content)
            self.succeeded(self.run_in_folder(PROGRAMS / "placed", "1", env={
                "LD_PRELOAD": str(self.library), "RDAM_MEMORY_RULES": "cyclic", "RDAM_MEMORY_FILE": str(self.account)}))
            self.assertEqual(self.account.read_bytes(), content)

    def test_programs_of_others_run_as_they_do_alone(self):
        """With a policy for every allocation from a page on."""
        variables = {"LD_PRELOAD": str(self.library), "RDAM_MEMORY_RULES": "4K..=random"}
        (self.folder / "text").write_text("".join(f"{number * 7919 % 100003}\n" for number in range(200_000)))
        for command in (["sort", "-n", "text"], ["gzip", "-c", "text"], ["xz", "-0", "-T2", "-c", "text"],
                        [sys.executable, "-c", "import json, threading; print(sum(map(int, open('text')))); print(len(bytes(50 << 20)))"],
                        ["sh", "-c", "sort text | uniq -c | tail -3"]):
            plain, under = (self.succeeded(self.run_in_folder(*command, env=env)) for env in ({}, variables))
            self.assertEqual(under.stdout, plain.stdout)


class InStudies(Memory):
    def test_policies_of_areas_are_a_factor(self):
        text = self.good("--runs", "3", "--threads", "2", "--pin", "compact", "--mem", "'u=cyclic,rhs=bind_block,nobody=random'", "--check", "none",
                         PROGRAMS / "placed", "{threads}")
        self.assertRegex(text, rf"2 areas of memory were placed on {len(NODES)} node")
        self.assertIn("of 701 pages all are where they were planned.", re.sub("70[12]", "701", text))
        self.assertIn("nothing of the program fits the rule 'nobody=random'.", text)
        for line in self.lines():
            self.assertEqual((line["placed_areas"], line["pages_elsewhere"], line["areas_left_alone"]), (2, 0, 0))
            self.assertEqual(line["memory"]["fitting"], {"u=cyclic": 1, "rhs=bind_block": 1, "nobody=random": 0})

    def test_policies_that_one_node_makes_the_same_are_run_once(self):
        text = self.good("--runs", "3", "--memory", "first-touch,cyclic,'u=random'", "true")
        said = [f"'memory {policy}' is on this machine the same as 'memory first-touch': it was not run." in text
                for policy in ("cyclic", "u=random")]
        self.assertEqual(said, [len(NODES) == 1] * 2)

    def test_a_program_without_the_library_is_told(self):
        text = self.good("--runs", "3", "--mem", "cyclic", PROGRAMS / "regions_static")
        self.assertIn("no memory was placed in 3 of 3 runs: the program is static or setuid", text)

    def test_blocks_are_refused_where_threads_are_free(self):
        for options in (["--mem", "bind_block"], ["--mem", "'u=cyclic,rhs=bind_block'"], ["--pin", "none,compact", "--mem", "bind_block"]):
            done = self.study(*options, "true")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr.decode(), r"\Ardam: --memory [^\n]*bind_block: [^\n]*give --pin compact[^\n]*\n\Z")

    def test_recorded_programs_are_placed_as_well(self):
        text = self.good("--runs", "3", "--mem", "u=cyclic", "--record", "make_grid", "--check", "none", PROGRAMS / "placed", "1")
        self.assertIn("lost time of all threads", text)
        for line in self.lines():
            self.assertEqual((line["placed_areas"], line["pages_elsewhere"]), (1, 0))


if __name__ == "__main__":
    unittest.main()
