#!/usr/bin/python3
"""Call stacks off line: inlined frames, source lines and readable names, and what is said of a binary that has changed."""

import os
import pathlib
import re
import time
import unittest

from harness import Case

SOURCE = """
#include <string>
namespace shop {
struct Order { int lines; };
template <class T> [[gnu::noipa]] int price(const T& order) { return order.lines * 3; }
[[gnu::always_inline]] inline int with_tax(const Order& order) {
    return price(order) + 1;  // inlined
}
[[gnu::noipa]] int checkout(int lines) {
    const int sum = with_tax(Order{lines});  // checkout
    return sum * 2;
}
[[gnu::noipa]] int refund(int lines) {
    const int sum = price(Order{lines});  // refund
    return -sum;
}
}  // namespace shop
int main() {
    int sum = 0;
    for (int i = 0; i < 300; i++) {
        sum += shop::checkout(i);  // main
        if (i % 3 == 0) sum += shop::refund(i);
    }
    return sum == 0;
}
"""


def line_of(comment: str) -> int:
    return next(i for i, line in enumerate(SOURCE.splitlines(), 1) if line.endswith("// " + comment))


class Stacks(Case):
    def compiled(self, *options: str) -> pathlib.Path:
        self.need("g++")
        (self.folder / "shop.cpp").write_text(SOURCE)
        path = self.folder / "shop"
        self.succeeded(self.run_in_folder("g++", "-O2", "-g", *options, "shop.cpp", "-o", path))
        return path

    def recorded(self, *options: str) -> pathlib.Path:
        path = self.compiled(*options)
        self.succeeded(self.rdam("record", "-f", "shop::price*", "--", path))
        return path

    def price(self) -> dict:
        [price] = self.analyze()["functions"]
        return price

    def notes(self) -> list[str]:
        """The same in JSON and in the table. Without what is said of this machine, now and then."""
        notes = self.analyze()["trace"]["notes"]
        table = self.rdam("analyze", "trace.bin").stdout.decode()
        lines = table.splitlines()
        folded = lines[lines.index("Notes") + 1:] if "Notes" in lines else []
        folded = folded[:folded.index("")] if "" in folded else folded
        self.assertEqual([line.removeprefix("note: ") for line in lines if line.startswith("note: ")] + [line.strip() for line in folded], notes)
        return [note for note in notes if not note.startswith("Interrupts or the host took")]

    def test_names_lines_and_inlined_frames(self):
        self.recorded()
        price = self.price()
        self.assertIn("price<shop::Order>", price["name"])
        checkout, refund = sorted(price["callers"], key=lambda caller: -caller["count"])
        self.assertEqual((checkout["count"], refund["count"]), (300, 100))
        with_tax, around = checkout["frames"]
        self.assertRegex(with_tax, rf"^(shop::)?with_tax at .*shop\.cpp:{line_of('inlined')} \(inlined\)$")
        self.assertRegex(around, rf"^shop::checkout at .*shop\.cpp:{line_of('checkout')}$")
        self.assertRegex(refund["frames"][0], rf"^shop::refund at .*shop\.cpp:{line_of('refund')}$")
        for caller in (checkout, refund):
            [stack] = caller["stacks"]
            self.assertEqual(stack["frames"][:len(caller["frames"])], caller["frames"])
            self.assertRegex(stack["frames"][len(caller["frames"])], r"^main at .*shop\.cpp:\d+$")
        self.assertEqual(self.notes(), [])

    def without_lines(self):
        for caller in self.price()["callers"]:
            [frame] = caller["frames"]
            self.assertRegex(frame, r"^shop\+0x[0-9a-f]+$")

    def test_changed_binary(self):
        path = self.recorded()
        other = SOURCE.replace("order.lines * 3", "order.lines * 5")
        (self.folder / "shop.cpp").write_text(other)
        self.succeeded(self.run_in_folder("g++", "-O1", "-g", "shop.cpp", "-o", path))
        [note] = self.notes()
        self.assertRegex(note, rf"^{re.escape(str(path))}: is not the file that was recorded \(build-id \w+, recorded \w+\)")
        self.without_lines()

    def test_missing_binary(self):
        path = self.recorded()
        path.unlink()
        [note] = self.notes()
        self.assertRegex(note, rf"^{re.escape(str(path))}: cannot be opened")
        self.without_lines()

    def test_binary_without_build_id(self):
        path = self.recorded("-Wl,--build-id=none")
        self.assertEqual(self.notes(), [])
        later = time.time() + 10
        os.utime(path, (later, later))
        [note] = self.notes()
        self.assertRegex(note, rf"^{re.escape(str(path))}: was modified after the recording started")
        self.assertIn("checkout", self.price()["callers"][0]["frames"][-1] + self.price()["callers"][1]["frames"][-1])

    def test_rust_names(self):
        self.need("rustc")
        (self.folder / "shelf.rs").write_text("""
            mod shelf {
                #[inline(never)] pub fn weigh<T: Into<u64>>(item: T) -> u64 { crate::keep(item.into() + 1) }
                pub struct Board;
                impl Board {
                    #[inline(never)] pub fn load(&self, n: u32) -> u64 { let sum = weigh(n); crate::keep(sum) * 2 }
                }
            }
            // std::hint::black_box is not in Debian's compiler yet.
            #[inline(never)] fn keep(value: u64) -> u64 { unsafe { std::ptr::read_volatile(&value) } }
            fn main() { for i in 0..10 { crate::keep(shelf::Board.load(i)); } }
        """)
        self.succeeded(self.run_in_folder("rustc", "-O", "-g", "shelf.rs"))
        self.succeeded(self.rdam("record", "-f", "shelf::shelf::weigh*", "--", self.folder / "shelf"))
        [weigh] = self.analyze()["functions"]
        self.assertRegex(weigh["callers"][0]["frames"][0], r"^(<?shelf::shelf::Board>?::)load at .*shelf\.rs:\d+$")


if __name__ == "__main__":
    unittest.main()
