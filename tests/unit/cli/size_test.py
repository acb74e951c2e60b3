#!/usr/bin/python3
"""tools/testing/size.py counts code, and no comments."""

import sys
import unittest

sys.path.insert(0, sys.argv[1])
import size

C = r'''
// one \
   two
#include "a.h"  // counted

/* three
   four */ int a = 1'000'000;  /* five
*/
const char* b = "/* no comment", c = '"';  const char* d = "// nor this";
const char* raw = R"x(
// text
")x";
'''
ASSEMBLY = """
# a comment
#define WORD 8
    # another
    mov $WORD, %rax  // counted
"""
PYTHON = '''
"""What the file
is about."""

def f():  # counted
    """What f does."""
    return """two
    # lines"""
'''
JAVASCRIPT = r"""
const quote = /["'`]/;  // counted
/** What it is. */
const text = `
// ${quote}`;
const half = a / 2; // '
"""


class Counting(unittest.TestCase):
    def test_comments_of_each_language(self):
        for name, text, lines in [
            ("a.cpp", C, 6),
            ("a.S", ASSEMBLY, 2),
            ("a.py", PYTHON, 3),
            ("a.js", JAVASCRIPT, 4),
            ("a.css", "/* a\n*/\nb { c: d; }\n", 1),
            ("meson.build", "# a\ntest('b')  # counted\n", 1),
            ("a.sh", "#!/bin/sh\n\necho '# b'\n  # c\n", 1),
            ("run", "#!/usr/bin/python3\n'''a'''\nb\n", 1),
        ]:
            with self.subTest(name):
                self.assertEqual(size.code_lines(name, text), lines)
        self.assertIsNone(size.code_lines("a.txt", "# a\n"))

    def test_files_are_product_tests_data_or_nothing(self):
        for name, lines in [
            ("analyzer/a/b.cpp", ("product", 1)),
            ("tools/demo", ("product", 1)),
            ("tools/testing/a.py", ("tests", 1)),
            ("tests/unit/a.cpp", ("tests", 1)),
            ("tests/unit/a.txt", ("test data", 2)),
            ("microbench/a.c", ("microbench", 1)),
            ("tools/rooms.txt", None),
            ("docs/a.md", None),
            ("microbench/README.md", None),
            ("tests/fuzz/corpus/a/b.cpp", None),
        ]:
            with self.subTest(name):
                text = b"#!/bin/sh\na\n" if name == "tools/demo" else b"a\nb\n" if name.endswith("txt") else b"a = 1\n"
                self.assertEqual(size.lines_of(name, text), lines)

    def test_two_commits_are_compared(self):
        before = size.count({"analyzer/a.c": b"a\nb\n", "tests/unit/b.c": b"a\n"})
        now = size.count({"analyzer/a.c": b"a\n"})
        shown = [line.split() for line in size.table(now, before).splitlines()]
        self.assertIn(["analyzer", "1", "(-1)"], shown)
        self.assertIn(["tests/unit", "0", "(-1)"], shown)
        self.assertIn(["sum", "1", "(-1)", "0", "(-1)"], shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
