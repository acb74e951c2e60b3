#!/usr/bin/python3
"""Counts the lines of the product and of its tests: no blank lines, no comments, no docstrings, no documentation.

usage: tools/testing/size.py [REF [REF]]

Of the working tree, or of the commit REF; with two, of the second and by how much it differs from the first. Product: libprobe,
wrappers, analyzer and tools, without tools/testing, which are tests as all of tests/ is. Test data is what tests compare with or read,
but for the inputs of the fuzz targets. A line with code and a comment counts.
"""

import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("product", "tests", "test data", "microbench")
PRODUCT = ("libprobe", "wrappers", "analyzer", "tools")

STRINGS = r'R"(?P<end>[^(\s]*)\((?:.|\n)*?\)(?P=end)"|"(?:\\(?:.|\n)|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
C_COMMENTS = r"(?P<comment>//(?:[^\\\n]|\\(?:.|\n))*|/\*(?:.|\n)*?(?:\*/|\Z))"
# A slash behind what cannot end a value begins a regular expression of JavaScript.
JS_STRINGS = r"`(?:\\.|[^`\\])*`|(?<=[(,=:\[!&|?{};])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/|'(?:\\.|[^'\\\n])*'|"
C = re.compile(f"{STRINGS}|{C_COMMENTS}")
JAVASCRIPT = re.compile(f"{JS_STRINGS}{STRINGS}|{C_COMMENTS}")
CSS = re.compile(rf"{STRINGS}|(?P<comment>/\*(?:.|\n)*?\*/)")
HTML = re.compile(r"(?P<comment><!--(?:.|\n)*?-->)")
HASH = re.compile(r"(?P<comment>^[ \t]*#.*)", re.MULTILINE)
# A # that begins a line of assembly is a comment or an order to the preprocessor.
ASSEMBLY = re.compile(rf"{C.pattern}|(?P<hash>^[ \t]*#(?!\s*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|error)\b).*)", re.MULTILINE)
COMMENTS = {
    **dict.fromkeys((".c", ".h", ".cpp", ".map"), C), **dict.fromkeys((".S", ".inc"), ASSEMBLY), ".js": JAVASCRIPT, ".css": CSS, ".html": HTML,
    **dict.fromkeys((".sh", ".build", ".toml", ".ini"), HASH),
}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}


def filled(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def python_lines(text: str) -> int:
    """Lines of Python, without strings that stand for themselves."""
    lines, statement = set(), []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            statement.append(token)
        elif token.type == tokenize.NEWLINE:
            if any(each.type != tokenize.STRING for each in statement):
                for each in statement:
                    inside = each.string.split("\n")
                    lines.update(each.start[0] + i for i, line in enumerate(inside) if line.strip())
            statement = []
    return len(lines)


def language_of(name: str, text: str) -> str | None:
    """The suffix of the files that are written in the same language; None: data."""
    suffix = pathlib.PurePath(name).suffix
    if suffix == ".py" or suffix in COMMENTS:
        return suffix
    first = text.split("\n", 1)[0]
    if suffix or not first.startswith("#!"):
        return None
    return ".py" if "python" in first else ".sh"


def code_lines(name: str, text: str) -> int | None:
    """Lines of code; None for a file that is none."""
    language = language_of(name, text)
    if language is None:
        return None
    if language == ".py":
        return python_lines(text)

    def without(found: re.Match) -> str:
        parts = found.groupdict()
        return "\n" * found[0].count("\n") if parts.get("comment") or parts.get("hash") else found[0]

    return filled(COMMENTS[language].sub(without, text))


def lines_of(name: str, content: bytes) -> tuple[str, int] | None:
    """Which of KINDS a file is, and its lines; None if it is none of them."""
    top = name.split("/")[0]
    tests = name.startswith(("tests/", "tools/testing/"))
    if not (tests or top in PRODUCT or top == "microbench") or name.startswith("tests/fuzz/corpus/") or name.endswith(".md") or b"\0" in content:
        return None
    text = content.decode("utf-8", "replace")
    lines = code_lines(name, text)
    if lines is None:
        return ("test data", filled(text)) if tests else None
    return "tests" if tests else "microbench" if top == "microbench" else "product", lines


def git(*arguments: str, given: bytes = b"") -> bytes:
    done = subprocess.run(["git", *arguments], cwd=ROOT, input=given, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"size.py: git {arguments[0]} failed (see above); usage: tools/testing/size.py [REF [REF]]")
    return done.stdout


def files_of(ref: str | None) -> dict[str, bytes]:
    """By name: what is in the files of a commit, or of the working tree."""
    if ref is None:
        names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").decode().split("\0")
        return {name: (ROOT / name).read_bytes() for name in names if name and (ROOT / name).is_file()}
    entries = [entry.split("\t", 1) for entry in git("ls-tree", "-r", "-z", ref).decode().split("\0") if entry]
    blobs = [(name, facts.split()[2]) for facts, name in entries if facts.split()[1] == "blob"]
    listed = git("cat-file", "--batch", given="".join(f"{blob}\n" for _, blob in blobs).encode())
    files, at = {}, 0
    for name, _ in blobs:
        begin = listed.index(b"\n", at) + 1
        at = begin + int(listed[at:begin].split()[2])
        files[name], at = listed[begin:at], at + 1
    return files


def count(files: dict[str, bytes]) -> dict[tuple[str, str], int]:
    """Lines by folder and kind; the folders of tests/ have rows of their own."""
    lines = collections.Counter()
    for name, content in files.items():
        found = lines_of(name, content)
        if found:
            deep = name.startswith(("tests/", "tools/testing/"))
            folder = "/".join(name.split("/")[:-1][:2 if deep else 1])
            lines[folder, found[0]] += found[1]
            lines["sum", found[0]] += found[1]
    return lines


def table(now: dict[tuple[str, str], int], before: dict[tuple[str, str], int] | None) -> str:
    folders = sorted({folder for folder, _ in {*now, *(before or {})}} - {"sum"}) + ["sum"]

    def cell(folder: str, kind: str) -> str:
        new, old = now.get((folder, kind), 0), (before or {}).get((folder, kind), 0)
        if before is None:
            return f"{new:,}" if new else ""
        return f"{new:,} ({new - old:+,})" if new or old else ""

    rows = [("", *KINDS), *((folder, *(cell(folder, kind) for kind in KINDS)) for folder in folders)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]).rstrip()
                     for row in rows)


def main(refs: list[str]) -> None:
    if len(refs) > 2 or any(ref.startswith("-") for ref in refs):
        sys.exit(__doc__.strip())
    before = count(files_of(refs[0])) if len(refs) == 2 else None
    print(table(count(files_of(refs[-1] if refs else None)), before))


if __name__ == "__main__":
    main(sys.argv[1:])
