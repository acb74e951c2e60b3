#!/usr/bin/python3
"""Checks the includes of the tree against tools/rooms.txt, and the plan in docs/rooms.md against both. Run by tools/lint.

usage: tools/testing/rooms.py [--draw]    --draw: draws the plan and the table of docs/rooms.md anew
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "tools/rooms.txt"
PAGE = ROOT / "docs/rooms.md"
TABLE = re.compile(r"^```\nfloor\n.*?^\| floor \|.*?(?=^$|\Z)", re.MULTILINE | re.DOTALL)
WIDTH = 118
SOURCES = (".h", ".cpp", ".c", ".S", ".inc")
# Whoever tests or measures a room may look into it.
OUTSIDE = ("tests/", "microbench/", "docs/")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+/[^"]+)"', re.MULTILINE)


def read_rules() -> tuple[dict[str, list[str]], dict[str, str]]:
    """By room, from the ground up: the rooms that it may include, and the sentence that says what it is."""
    rules, sentences = {}, {}
    room = ""
    for number, line in enumerate(RULES.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith(" "):
            sentences[room] = line.strip()
            continue
        room, _, allowed = line.partition(":")
        for other in allowed.split():
            if other not in rules:
                sys.exit(f"{RULES.name}:{number}: {room} may not include {other}, which does not stand below it")
        rules[room] = allowed.split()
    return rules, sentences


def read_includes() -> dict[str, dict[str, set[str]]]:
    """By room: the rooms that it includes, and the files that do."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rooms = {}
    for name in listed:
        path = ROOT / name
        if not name.endswith(SOURCES) or name.startswith(OUTSIDE) or not path.is_file():
            continue
        room = str(pathlib.PurePath(name).parent)
        includes = rooms.setdefault(room, {})
        for included in INCLUDE.findall(path.read_text()):
            other = str(pathlib.PurePath(included).parent)
            if other != room:
                includes.setdefault(other, set()).add(name)
    return rooms


def check(rules, sentences, rooms) -> list[str]:
    wrong = [f"{RULES.relative_to(ROOT)}: {room} has no sentence: say below its line, indented, what it is" for room in rules
             if not sentences.get(room, "").endswith(".")]
    for room, includes in sorted(rooms.items()):
        if room not in rules:
            wrong.append(f"{room}: is not in {RULES.relative_to(ROOT)}: give it a line with the rooms that it may include")
            continue
        for other, files in sorted(includes.items()):
            if other not in rules[room]:
                wrong.append(f"{min(files)}: includes {other}, which {RULES.relative_to(ROOT)} does not allow {room}")
    for room, allowed in rules.items():
        if room not in rooms:
            wrong.append(f"{RULES.relative_to(ROOT)}: there is no room {room}")
        for other in allowed:
            if other not in rooms.get(room, {}):
                wrong.append(f"{RULES.relative_to(ROOT)}: {room} does not include {other}: take it out")
    return wrong


def floors(rules) -> dict[str, int]:
    """A room stands one floor above the highest that it includes."""
    found = {}
    for room, allowed in rules.items():
        found[room] = max((found[other] + 1 for other in allowed), default=0)
    return found


def files_of(room: str) -> int:
    return sum(1 for path in (ROOT / room).iterdir() if path.suffix in SOURCES)


def plan(rules, found) -> list[str]:
    """A line of rooms for each floor, the highest first; a room's number is that of its files."""
    lines = ["```", "floor"]
    for floor in range(max(found.values()), -1, -1):
        begin = f"{floor:5} "
        line = begin
        for room in sorted(each for each in rules if found[each] == floor):
            box = f"[{room} {files_of(room)}]"
            if len(line) > len(begin) and len(line) + 1 + len(box) > WIDTH:
                lines.append(line)
                line = " " * len(begin)
            line += " " + box
        lines.append(line)
    return [*lines, "```", ""]


def draw(rules, sentences) -> str:
    found = floors(rules)
    lines = [*plan(rules, found), "| floor | room | what it is | files | includes |", "|---:|---|---|---:|---|"]
    for room in sorted(rules, key=lambda each: (-found[each], each)):
        below = ", ".join(f"`{other}`" for other in rules[room]) or "–"
        lines.append(f"| {found[room]} | `{room}` | {sentences[room]} | {files_of(room)} | {below} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    rules, sentences = read_rules()
    if sys.argv[1:] == ["--draw"]:
        PAGE.write_text(TABLE.sub(lambda _: draw(rules, sentences), PAGE.read_text()))
        return 0
    wrong = check(rules, sentences, read_includes())
    if not wrong and draw(rules, sentences) not in PAGE.read_text():
        wrong.append(f"{PAGE.relative_to(ROOT)}: does not show the tree as it is: run tools/testing/rooms.py --draw")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
