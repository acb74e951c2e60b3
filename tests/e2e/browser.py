"""A headless browser for the pages of rdam report: Debian's chromium, driven by selenium."""

import json
import os
import pathlib
import shutil
import tempfile
import time

BROWSER = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
WAIT = 20


def missing() -> str | None:
    """Why there is no browser here; None: there is one."""
    if BROWSER is None or DRIVER is None:
        return "chromium and chromium-driver are not installed"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    return None


class Browser:
    """One page at a time. `dark`: what the desktop prefers."""

    def __init__(self, width=1280, height=900, dark=False, scripts=True):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        self.scripts = scripts
        self.size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.features = [{"name": "prefers-color-scheme", "value": "dark"}] if dark else []
        options = Options()
        options.binary_location = BROWSER
        self.profile = tempfile.mkdtemp(prefix="rdam-browser-")
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={self.profile}",
                     f"--window-size={width},{height}", "--force-device-scale-factor=1"):
            options.add_argument(word)
        if dark:
            options.add_argument("--force-dark-mode")
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER, log_output=os.devnull), options=options)
        self._emulate()

    def _emulate(self):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", self.size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": self.features})

    def clear(self):
        """As after the start: an empty page under a pointer in the corner, nothing emulated but what was asked for, no messages, no requests."""
        self.driver.get("about:blank")
        self._emulate()
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})
        self.messages()
        self.requests()

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, page: pathlib.Path, place=""):
        self.driver.get("about:blank")
        self.driver.get(page.as_uri() + place)
        if self.scripts:
            self.settle()

    def settle(self):
        """Until two frames have been drawn."""
        self.driver.set_script_timeout(WAIT)
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));")

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector) -> list[str]:
        return self.js("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent);", selector)

    def keys(self, selector, *keys):
        element = self.one(selector)
        self.js("arguments[0].focus();", element)
        element.send_keys(*keys)
        self.settle()

    def click(self, selector):
        self.js("arguments[0].scrollIntoView({block: 'center'});", self.one(selector))
        self.one(selector).click()
        self.settle()

    def picture(self, selector) -> str:
        """What a canvas shows, as text that differs when it differs."""
        return self.js("return document.querySelector(arguments[0]).toDataURL();", selector)

    def messages(self) -> list[str]:
        return [each["message"] for each in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for, the page's own file left out."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [url for url in found if not url.startswith(("file://", "about:", "data:", "chrome"))]

    def wait_for(self, code, *arguments, seconds=WAIT):
        """Until the script returns something true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.js(code, *arguments):
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {code}")
