#!/usr/bin/python3
"""rdam export --format paje in ViTE: a row for each thread, and each state where it belongs, in its picture and in its window."""

import collections
import dataclasses
import os
import re
import shlex
import time
import unittest
from xml.etree import ElementTree

import virtual_screen
from harness import Case

MICROBENCH = os.environ["MICROBENCH"]
LOCK = ["lock", "--threads", "3", "--iterations", "8", "--work", "1ms"]
FUNCTIONS = "lock_increment,pthread_mutex_lock,pthread_mutex_unlock"

# ViTE's own colours: of the boxes that name processes and threads, and of what is behind the states.
BOX, BEHIND, BEHIND_IN_WINDOW = (0, 0, 153), (128, 128, 150), (128, 128, 140)
LEAST_PIXELS = 1.5
LEAST_BOX = 15
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


def shade_of(pixel: Colour, colours: list[Colour]) -> Colour | None:
    """In its window each state gets darker towards its end."""
    for colour in colours:
        share = max(pixel) / max(colour)
        if 0.5 < share < 1.05 and all(abs(have - share * want) <= 6 for have, want in zip(pixel, colour, strict=True)):
            return colour
    return None


def on_a_box(pixel: Colour) -> bool:
    """Blue, or what has been mixed with the white of a name."""
    red, green, blue = pixel
    return red == green < blue and pixel != BEHIND_IN_WINDOW


def runs(column: list[bool]) -> tuple[tuple[int, int], ...]:
    """From where to where it is true, but for the few pixels of a letter."""
    found = []
    for i in (i for i in range(len(column)) if column[i]):
        if found and i - found[-1][1] < 4:
            found[-1][1] = i + 1
        else:
            found.append([i, i + 1])
    return tuple((begin, end) for begin, end in found if end - begin > 8)


def rows_of(picture) -> tuple[tuple[tuple[int, int], ...], int]:
    """The rows of threads, from the top, and where their boxes end."""
    columns = collections.defaultdict(list)
    for x in range(picture.width // 2):
        columns[runs([on_a_box(picture.getpixel((x, y))) for y in range(picture.height)])].append(x)
    rows = max((each for each in columns if len(columns[each]) >= LEAST_BOX), key=len)
    return rows, max(columns[rows]) + 1


def wrong_in_window(paje: Paje, picture) -> list[str]:
    rows, left = rows_of(picture)
    if len(rows) != len(paje.threads):
        return [f"{len(rows)} rows for {len(paje.threads)} threads"]
    colours = list(set(paje.colours.values()))
    wrong = []
    for thread, (top, bottom) in zip(paje.threads, rows, strict=True):
        line = [picture.getpixel((x, bottom - (bottom - top) // 4)) for x in range(left, picture.width)]
        seen = collections.Counter(shade_of(pixel, colours) for pixel in line)
        wide = seen.total() - seen[None] + line.count(BEHIND_IN_WINDOW)
        for colour in colours:
            share = sum(each.end - each.begin for each in paje.states if each.thread == thread and each.colour == colour) / paje.end
            if abs(seen[colour] / wide - share) > 0.04:
                wrong.append(f"{paje.threads[thread]}: {colour} has {seen[colour] / wide:.3f} of the row, not {share:.3f}")
    return wrong


def without(text: str, pattern: str, instead: str) -> str:
    broken = re.sub(pattern, instead, text, count=1, flags=re.MULTILINE)
    assert broken != text
    return broken


class Vite(Case):
    def setUp(self):
        super().setUp()
        self.need("vite")
        if reason := virtual_screen.missing():
            self.skipTest(reason)

    def export(self) -> str:
        done = self.rdam("record", "-o", "trace.bin", "-f", FUNCTIONS, "--", MICROBENCH, *LOCK)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        done = self.rdam("export", "--format", "paje", "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        text = done.stdout.decode()
        paje = read(text)
        self.assertEqual(len(paje.threads), 4)
        self.assertGreaterEqual(len({each.colour for each in paje.states if each.end - each.begin > paje.end / 100}), 2)
        return text

    def wrong(self, text: str, paje: Paje) -> str:
        """With what ViTE says of the file, and with the picture that it writes."""
        (self.folder / "x.paje").write_text(text)
        done = self.run_in_folder("vite", "x.paje", "-e", "x.svg", env={"QT_QPA_PLATFORM": "offscreen", "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
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

    def assert_shown(self, text: str, paje: Paje, wrong: str):
        """What is wrong in its window comes down to this; nothing: the window is right."""
        (self.folder / "x.paje").write_text(text)
        screen = virtual_screen.Screen()
        self.addCleanup(screen.close)
        screen.start("vite", "x.paje", cwd=self.folder)
        until = time.monotonic() + virtual_screen.WAIT
        while True:
            found = wrong_in_window(paje, screen.settled())
            if re.search(wrong, " ".join(found)) if wrong else not found:
                return
            self.assertLess(time.monotonic(), until, found)

    def test_its_window(self):
        text = self.export()
        paje = read(text)
        self.assert_shown(text, paje, "")
        # The errors that ViTE finds are in a window in front of the rows.
        self.assert_shown(without(text, *BROKEN_LINES[0][:2]), paje, "[1-3] rows for 4 threads")
        self.assert_shown(re.sub(r"^[56] .*\n", "", text, flags=re.MULTILINE), paje, "has 0.000 of the row, not 0.[1-9]")


if __name__ == "__main__":
    unittest.main()
