#!/usr/bin/env python3
"""Writes the report's page, without its data, as C++: embed.py TEMPLATE CHART_JS LICENCE OUT.cpp FILE…

FILE… are the style sheets and scripts, in their order. The page allows these and nothing else: its content security policy names their hashes,
and no address. CHART_JS empty: the parts are empty, and rdam says that it was built without.
"""

import base64
import hashlib
import pathlib
import sys

PARTS = ("kHead", "kBeforeStatic", "kBeforeData", "kTail")
MARKS = ("<!--TITLE-->", "<!--STATIC-->", "<!--DATA-->")


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def script_safe(path, text):
    if "</script" in text.lower() or "<!--" in text:
        sys.exit(f"embed.py: {path} has a text that ends a script element")
    return text


def page(template, chart_js, licence, files):
    styles = [read(each) for each in files if each.endswith(".css")]
    notice = read(licence).replace("*/", "* /")
    own = [script_safe(each, read(each)) for each in files if each.endswith(".js")]
    chart = script_safe(chart_js, read(chart_js).split("//# sourceMappingURL")[0])
    scripts = [f"/* Chart.js, which this page contains:\n{notice}*/\n{chart}", "'use strict';\n(() => {\n" + "\n".join(own) + "\n})();\n"]
    policy = (f"default-src 'none'; script-src {' '.join(map(hash_of, scripts))}; style-src {' '.join(map(hash_of, styles))}; "
              "base-uri 'none'; form-action 'none'")
    text = read(template)
    text = text.replace("<!--POLICY-->", f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
    text = text.replace("<!--STYLES-->", "".join(f"<style>{each}</style>\n" for each in styles))
    text = text.replace("<!--SCRIPTS-->", "".join(f"<script>{each}</script>\n" for each in scripts))
    return text


def split(text):
    parts = []
    for mark in MARKS:
        before, text = text.split(mark)
        parts.append(before)
    return [*parts, text]


def literal(text):
    """Adjacent literals of at most some thousand bytes each."""
    data = text.encode()
    pieces = []
    for at in range(0, len(data), 4096):
        escaped = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in data[at:at + 4096])
        pieces.append(f'"{escaped}"')
    return "\n    ".join(pieces) or '""'


def main():
    template, chart_js, licence, out, *files = sys.argv[1:]
    parts = split(page(template, chart_js, licence, files)) if chart_js else [""] * len(PARTS)
    lines = ['#pragma GCC diagnostic ignored "-Woverlength-strings"', '#include "analyzer/output/html/page_parts.h"', "",
             "namespace rdam::output::page_parts {"]
    for name, part in zip(PARTS, parts, strict=True):
        lines.append(f"const std::string_view {name}{{\n    {literal(part)},\n    {len(part.encode())}}};")
    lines.append("}  // namespace rdam::output::page_parts")
    pathlib.Path(out).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
