#!/usr/bin/python3
"""Makes the pictures of docs/views.md again: records sysbench and pbzip2, writes their reports and photographs each view.

usage: tools/docs/screenshots.py [--rdam build/tools/rdam/rdam] [--folder /tmp/views] [--only NAME] [--firefox-profiler dist]

Needs perf, sysbench, pbzip2, chromium, chromium-driver, python3-selenium and python3-pil, and for other viewers (tools/docs/viewers.py) what
tools/setup installs. The recordings stay in the folder and are used again.
"""

import argparse
import base64
import io
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
sys.dont_write_bytecode = True

import viewers  # noqa: E402

PLACE = ROOT / "docs/views"
WIDTH = 1100
MARGIN = 8
COLOURS = 96
# Of what is nearly all text.
FEW_COLOURS = 16
TEXT_BYTES = 40_000_000

# Writes blocks of many sizes to memory.
BLOCKS = """import os, random
file = os.open("/dev/shm/rdam-blocks", os.O_CREAT | os.O_RDWR)
for _ in range(4000):
    os.lseek(file, 0, 0)
    os.write(file, bytes(random.randrange(1000000)))
os.unlink("/dev/shm/rdam-blocks")
"""
THREADS = ["sysbench", "threads", "--thread-locks=1", "--thread-yields=100", "--events=10000", "--time=0"]
# Two at a time, for which two processors are too few.
FILES = "for i in 1 2 3 4 5 6 7 8; do for j in 1 2; do head -c 8000000 text | pbzip2 -c -p2 -b1 > /dev/null & done; wait; done"
# A run: its program, and the functions to record; None: those of perf and rdam hot.
RUNS = {
    "sysbench": ([*THREADS, "--threads=4", "run"], None),
    "sysbench-2": ([*THREADS, "--threads=2", "run"], None),
    "pbzip2": (["pbzip2", "-k", "-f", "-p4", "-b1", "text"], None),
    "blocks": (["/usr/bin/python3", "-c", BLOCKS], "write"),
    "files": (["sh", "-c", FILES], None),
}
# The runs of which each process has a trace.
OF_PROCESSES = {"files"}
# No run: the trace of a machine with two NUMA nodes, from a program beside rdam in the build directory.
MADE_UP = "nodes"
REPORTS = {"sysbench": ["sysbench"], "pbzip2": ["pbzip2"], "blocks": ["blocks"], "difference": ["sysbench-2", "sysbench"], "files": ["files"],
           MADE_UP: [MADE_UP]}

# An element of the page, as JavaScript. F: the page of a function is opened first, by its place in the ranking or a part of its name.
FIGURE = "[...document.querySelectorAll('article figure')].find((each) => each.querySelector('figcaption').textContent.startsWith({!r}))"
RANKING = "document.querySelector('table.ranking').closest('section')"
TIMELINE = "document.querySelector('[id^=timelines-]')"
WHOLE_RUN = """(() => {
  document.querySelector('.timeline button[aria-label="Show the whole run"]').click();
  const box = document.createElement('div');
  const section = document.querySelector('[id^=timelines-]');
  box.append(...[...section.childNodes].slice(3));
  section.append(box);
  return box;
})()"""


def after(heading):
    """The part of a function's page below a heading."""
    return f"""(() => {{
      const head = [...document.querySelectorAll('article h3')].find((each) => each.textContent.startsWith({heading!r}));
      if (!head) return null;
      const box = document.createElement('div');
      head.before(box);
      let next = head;
      do {{ const each = next; next = each.nextSibling; box.append(each); }}
      while (next && next.tagName !== 'H3' && !next.classList.contains('grid'));
      return box;
    }})()"""


# picture: (report, function or None, element, colours of the desktop, most pixels in height)
VIEWS = {
    "report": ("sysbench", None, "document.body", "light", 900),
    "ranking": ("pbzip2", None, RANKING, "light", 620),
    "distribution": ("sysbench", "pthread_mutex_lock", FIGURE.format("Durations"), "light", 400),
    "durations-by-thread": ("sysbench", "pthread_mutex_lock", FIGURE.format("Durations by thread"), "light", 400),
    "course": ("sysbench", "pthread_mutex_lock", FIGURE.format("Over the run"), "light", 400),
    "by-thread": ("sysbench", "pthread_mutex_lock", FIGURE.format("By thread"), "light", 400),
    "by-processor": ("sysbench", "pthread_mutex_lock", FIGURE.format("By processor"), "light", 400),
    "by-node": (MADE_UP, "walk", FIGURE.format("By NUMA node"), "light", 400),
    "parameter": ("blocks", "write", FIGURE.format("count"), "light", 400),
    "hints": ("sysbench", "pthread_mutex_lock", after("What may explain it"), "light", 500),
    "paths": ("sysbench", "pthread_mutex_lock", after("Call stacks"), "light", 500),
    "icicle": ("pbzip2", None, "document.querySelector('#icicle')", "light", 500),
    "heat-map": ("pbzip2", None, "document.querySelector('#heat')", "light", 500),
    "timeline": ("sysbench", None, TIMELINE, "light", 700),
    "timeline-run": ("sysbench", None, WHOLE_RUN, "light", 600),
    "difference": ("difference", None, "document.querySelector('#diff')", "light", 1100),
    "processes": ("files", None, "document.querySelector('#heat')", "light", 700),
    "dark": ("sysbench", None, "document.body", "dark", 900),
}
# What is seen of a report without scrolling on a desktop, a tablet and a telephone: width, height, and whether in dark colours.
FIRST = "pbzip2"
SCREENS = {f"first-{width}{'-dark' if dark else ''}": (width, height, dark)
           for width, height in ((1280, 900), (768, 1024), (390, 844)) for dark in (False, True)}


def run(*words, cwd, to=None):
    done = subprocess.run([str(each) for each in words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.decode(errors='replace').strip()}")
    if to:
        to.write_bytes(done.stdout)


def text(path):
    """Some megabytes that compress like prose, the same each time."""
    words = [each for page in sorted((ROOT / "docs").glob("*.md")) for each in page.read_text(encoding="utf-8").split()]
    at, size = 1, 0
    with path.open("w", encoding="utf-8") as out:
        while size < TEXT_BYTES:
            at = at * 1103515245 + 12345 & 0x7FFFFFFF
            size += out.write(words[(at >> 8) % len(words)] + " ")


def traces(folder, name):
    return sorted(folder.glob(f"{name}.*.bin")) if name in OF_PROCESSES else [folder / f"{name}.bin"]


def record(rdam, folder, name):
    trace = folder / (f"{name}.%p.bin" if name in OF_PROCESSES else f"{name}.bin")
    if any(each.exists() for each in traces(folder, name)):
        return
    if name == MADE_UP:
        run(rdam.parents[2] / "tests/e2e/programs/two_nodes_trace", trace, cwd=folder)
        return
    program, functions = RUNS[name]
    if any("text" in word.split() for word in program) and not (folder / "text").exists():
        text(folder / "text")
    if functions is None:
        functions = folder / f"{name}.txt"
        run("perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", f"{name}.data", "--", *program, cwd=folder)
        run(rdam, "hot", f"{name}.data", cwd=folder, to=functions)
    run(rdam, "record", "-f", functions, "-o", trace, "--", *program, cwd=folder)


def report(rdam, folder, name):
    for each in REPORTS[name]:
        record(rdam, folder, each)
    page = folder / f"{name}.html"
    run(rdam, "report", "--overwrite", "-o", page, *[trace for each in REPORTS[name] for trace in traces(folder, each)],
        cwd=folder)
    return page


def shrunk(png, height, colours=COLOURS):
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, height)))
    out = io.BytesIO()
    image.quantize(colours, method=Image.MEDIANCUT, dither=Image.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def photograph(browser, page, name):
    _, function, element, _, height = VIEWS[name]
    browser.open(page)
    if function:
        browser.js("""const link = [...document.querySelectorAll('table.ranking td.name a')].find((each) => each.textContent.endsWith(arguments[0]));
          window.location.hash = link.getAttribute('href');""", function)
        browser.wait_for("return document.querySelector('article h2') !== null;")
    browser.settle()
    browser.settle()
    node = browser.js(f"return {element};")
    if node is None:
        print(f"{name}: the page has no such view")
        return
    browser.js("window.scrollTo(0, 0);")
    box = browser.js("const b = arguments[0].getBoundingClientRect(); return [b.x, b.y, b.width, b.height];", node)
    x, y, wide, high = box
    left, top = min(MARGIN, x), min(MARGIN, y)
    clip = {"x": x - left, "y": y - top, "width": wide + left + MARGIN, "height": min(high + top + MARGIN, height), "scale": 1}
    clip["width"] = min(clip["width"], WIDTH - clip["x"])
    got = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})
    keep(name, base64.b64decode(got["data"]), height)


def photograph_screen(page, name):
    from browser import Browser

    width, height, dark = SCREENS[name]
    browser = Browser(width=width, height=height, dark=dark)
    try:
        browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        browser.open(page)
        browser.settle()
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        got = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    finally:
        browser.close()
    keep(name, base64.b64decode(got["data"]), height, FEW_COLOURS)


def keep(name, png, height, colours=COLOURS):
    picture = PLACE / f"{name}.png"
    picture.write_bytes(shrunk(png, height, colours))
    print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size:,} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rdam", default=ROOT / "build/tools/rdam/rdam", type=pathlib.Path, help="the rdam to record and report with")
    parser.add_argument("--folder", default="/tmp/views", type=pathlib.Path, help="where recordings and pages are kept")
    parser.add_argument("--only", choices=[*VIEWS, *SCREENS, *viewers.VIEWERS], action="append", help="this picture alone; may be repeated")
    parser.add_argument("--firefox-profiler", type=pathlib.Path, help="where the Firefox Profiler's page was built")
    options = parser.parse_args()
    from browser import Browser, missing

    if reason := missing():
        sys.exit(f"screenshots: {reason}")
    options.folder.mkdir(parents=True, exist_ok=True)
    PLACE.mkdir(exist_ok=True)
    others = [each for each in options.only or viewers.VIEWERS if each in viewers.VIEWERS]
    for name in others:
        _, recording, _, height = viewers.VIEWERS[name]
        record(options.rdam.resolve(), options.folder, recording)
        if png := viewers.photograph(options.rdam.resolve(), options.folder, name, options.firefox_profiler):
            keep(name, png, height)
    wanted = [each for each in options.only or VIEWS if each in VIEWS]
    screens = [each for each in options.only or SCREENS if each in SCREENS]
    names = {VIEWS[each][0] for each in wanted} | ({FIRST} if screens else set())
    pages = {name: report(options.rdam.resolve(), options.folder, name) for name in names}
    for name in screens:
        photograph_screen(pages[FIRST], name)
    for dark in (False, True):
        names = [each for each in wanted if (VIEWS[each][3] == "dark") == dark]
        if not names:
            continue
        browser = Browser(width=WIDTH, height=900, dark=dark)
        browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        try:
            for name in names:
                photograph(browser, pages[VIEWS[name][0]], name)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
