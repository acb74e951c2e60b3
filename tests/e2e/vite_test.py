#!/usr/bin/python3
"""rdam export --format paje in ViTE: a row for each thread, and each state where it belongs, in the picture that it draws."""

import collections
import dataclasses
import os
import re
import shlex
import unittest
from xml.etree import ElementTree

from harness import Case

MICROBENCH = os.environ["MICROBENCH"]
LOCK = ["lock", "--threads", "3", "--iterations", "8", "--work", "1ms"]
FUNCTIONS = "lock_increment,pthread_mutex_lock,pthread_mutex_unlock"

# ViTE's own colours: of the boxes that name processes and threads, and of what is behind the states.
BOX, BEHIND = (0, 0, 153), (128, 128, 150)
LEAST_PIXELS = 1.5
NO_ERRORS = "0 errors and 0 warnings"

# A line, what stands there instead, and what is wrong with the file then for ViTE.
BROKEN_LINES = [
    (r"^3 (\S+) t2 T p .*$", r"3 \1 t2", "3 rows for 4 threads"),
    (r"^%EventDef PajeCreateContainer 3$", "%EventDef PajeCreates 3", "0 rows for 4 threads"),
    (r"^%EventDef PajePushState 5$", "%EventDef PajePushed 5", "not there: "),
    (r"^1 C T .*$", "1 C", r"not there: |[1-9]\d* errors and 1 warnings"),
    (r"^5 \S+ (\S+ t1 .*)$", r"5 soon \1", "0 errors and 1 warnings"),
    (r"^5 (\S+ \S+) t1 ", r"5 \1 t9 ", "1 errors and 0 warnings"),
]
NEAR = 0.5

Colour = tuple[int, int, int]


@dataclasses.dataclass
class State:
    thread: str
    begin: float
    end: float
    colour: Colour


@dataclasses.dataclass
class Paje:
    threads: dict[str, str]
    states: list[State]
    colours: dict[str, Colour]
    end: float


def read(text: str) -> Paje:
    """What a viewer shall show of an exported file: of states inside others the innermost."""
    found = Paje({}, [], {}, 0)
    stacks = collections.defaultdict(list)
    for line in text.splitlines():
        if line.startswith("%"):
            continue
        event, *fields = shlex.split(line)
        if event == "2":
            found.colours[fields[0]] = tuple(round(float(part) * 255) for part in fields[3].split())
        if event == "3" and fields[2] == "T":
            found.threads[fields[1]] = fields[4]
        if event in "3456":
            found.end = float(fields[0])
        if event in "56":
            now, thread = float(fields[0]), fields[2]
            stack = stacks[thread]
            if stack:
                found.states.append(State(thread, stack[-1][0], now, found.colours[stack[-1][1]]))
            if event == "5":
                stack.append([now, fields[3]])
            else:
                stack.pop()
                if stack:
                    stack[-1][0] = now
    return found


def rectangles(picture: str) -> list[tuple[Colour, float, float, float]]:
    """Colour, left and upper edge and width of all in a picture that ViTE has written."""
    found = []
    for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect"):
        colour = tuple(int(part) for part in re.findall(r"\d+", each.get("fill")))
        found.append((colour, *(float(each.get(name)) for name in ("x", "y", "width"))))
    return found


def wrong_in_picture(paje: Paje, picture: str) -> list[str]:
    boxes = sorted((y, x, width) for colour, x, y, width in rectangles(picture) if colour == BOX and x > 0)
    if len(boxes) != len(paje.threads):
        return [f"{len(boxes)} rows for {len(paje.threads)} threads"]
    names = {each.text for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")}
    wrong = [f"nobody is called {name}" for name in paje.threads.values() if name not in names]
    left = boxes[0][1] + boxes[0][2]
    wide = float(ElementTree.fromstring(picture).get("width")) - left
    rows = {thread: box[0] for thread, box in zip(paje.threads, boxes, strict=True)}
    drawn = [each for each in rectangles(picture) if each[0] not in (BOX, BEHIND)]
    for state in paje.states:
        begin, length = left + wide * state.begin / paje.end, wide * (state.end - state.begin) / paje.end
        if length >= LEAST_PIXELS and not any(
                near(colour, state.colour) and y == rows[state.thread] and abs(x - begin) < NEAR and abs(width - length) < NEAR
                for colour, x, y, width in drawn):
            wrong.append(f"not there: {state}")
    return wrong


def near(one: Colour, other: Colour) -> bool:
    return all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))


def without(text: str, pattern: str, instead: str) -> str:
    broken = re.sub(pattern, instead, text, count=1, flags=re.MULTILINE)
    assert broken != text
    return broken


class Vite(Case):
    def setUp(self):
        super().setUp()
        self.need("vite")

    def export(self) -> str:
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", FUNCTIONS, "--", MICROBENCH, *LOCK))
        done = self.succeeded(self.rdam("export", "--format", "paje", "trace.bin"))
        text = done.stdout.decode()
        paje = read(text)
        self.assertEqual(len(paje.threads), 4)
        self.assertGreaterEqual(len({each.colour for each in paje.states if each.end - each.begin > paje.end / 100}), 2)
        return text

    def wrong(self, text: str, paje: Paje) -> str:
        """With what ViTE says of the file, and with the picture that it writes."""
        (self.folder / "x.paje").write_text(text)
        done = self.succeeded(self.run_in_folder("vite", "x.paje", "-e", "x.svg", env={"QT_QPA_PLATFORM": "offscreen", "HOME": str(self.folder)}))
        errors = re.findall(r"\d+ errors and \d+ warnings", (done.stdout + done.stderr).decode())
        self.assertEqual(len(errors), 1)
        return "\n".join([*(each for each in errors if each != NO_ERRORS), *wrong_in_picture(paje, (self.folder / "x.svg").read_text())])

    def test_its_picture(self):
        text = self.export()
        paje = read(text)
        self.assertEqual(self.wrong(text, paje), "")
        for pattern, instead, wrong in BROKEN_LINES:
            with self.subTest(instead):
                self.assertRegex(self.wrong(without(text, pattern, instead), paje), wrong)


if __name__ == "__main__":
    unittest.main()
