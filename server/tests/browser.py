"""What `tests/page.rs` asks of a real browser: Debian's chromium-driver and python3-selenium.

    browser.py CASE URL PROCESS

Ends with 0 if the page at URL, of the server that is PROCESS, is as CASE expects. Screenshots go to
the folder that UIDRING_SCREENSHOTS names, if it does.
"""

import os
import signal
import sys
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

LONGEST_WAIT = 30


class Page:
    def __init__(self, url):
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.url = url

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def open(self):
        self.driver.get(self.url)

    def size(self, width, height=900):
        sizes = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setDeviceMetricsOverride", **sizes)

    def text(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css).text

    def run(self, script):
        return self.driver.execute_script(f"return {script}")

    def tags(self):
        return self.run("[...document.querySelectorAll('#tags tbody th')].map(e => e.textContent)")

    def wait(self, what, is_so):
        end = time.monotonic() + LONGEST_WAIT
        while not is_so():
            assert time.monotonic() < end, f"never {what}: {self.text('body')[:2000]}"
            time.sleep(0.05)

    def wait_for_script(self):
        self.wait("updated", lambda: self.run("!document.getElementById('search').hidden"))

    def shoot(self, name):
        folder = os.environ.get("UIDRING_SCREENSHOTS")
        if folder:
            for scheme in ["light", "dark"]:
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                self.cdp("Emulation.setEmulatedMedia", features=features)
                time.sleep(0.3)
                self.driver.save_screenshot(f"{folder}/{name}-{scheme}.png")

    def fits(self):
        width = self.run("[document.documentElement.scrollWidth, window.innerWidth]")
        assert width[0] <= width[1], f"the page is {width[0]} wide in a window of {width[1]}"

    def check_console(self):
        """No error, such as what the policy forbids."""
        errors = [line for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]
        assert not errors, errors


def ask(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def updates(page):
    page.open()
    page.wait_for_script()
    assert page.tags() == ["tag-0000", "tag-0001", "tag-0002"], page.tags()
    assert page.text("#health").startswith("Healthy"), page.text("#health")
    assert page.driver.title.startswith("Healthy"), page.driver.title
    taken = "#tags tbody tr:nth-child(2) td:nth-child(6)"
    assert page.text(taken) == "7", page.text(taken)
    for _ in range(40):
        ask(page.url + "v1/tags/tag-0001/ids?n=100")
        ask(page.url + "v1/uids?n=20000")
    page.wait("counted", lambda: page.text(taken) == "4,007")
    points = "document.getElementById('uid-line').getAttribute('points')"
    page.wait("drawn", lambda: any(not p.endswith(",40") for p in page.run(points).split()))
    # What is announced stays as it is.
    page.run("new MutationObserver(() => { window.announced = true; })"
             ".observe(document.getElementById('health'), { subtree: true, childList: true })")
    before = page.text("#now")
    page.wait("later", lambda: page.text("#now") != before)
    assert not page.run("window.announced"), "the line of health was written anew"
    page.size(1200)
    page.shoot("three")
    page.check_console()


def thousand(page):
    page.open()
    page.wait_for_script()
    assert len(page.tags()) == 1000, len(page.tags())
    search = page.driver.find_element(By.ID, "filter")
    search.send_keys("tag-04")
    page.wait("found", lambda: len(page.tags()) == 100)
    assert page.text("#found") == "100 found", page.text("#found")
    page.size(1200)
    page.shoot("thousand")
    search.clear()
    search.send_keys("x")
    page.wait("empty", lambda: page.tags() == [])
    search.send_keys(Keys.BACKSPACE)
    page.wait("whole", lambda: len(page.tags()) == 1000)
    # By keyboard: from the search to the table, and to the heads of its columns.
    search.send_keys(Keys.TAB)
    assert page.run("document.activeElement.className") == "wide"
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    button = page.driver.switch_to.active_element
    assert button.text == "Tag", button.text
    button.send_keys(Keys.ENTER)
    page.wait("sorted", lambda: page.tags()[0] == "tag-0999")
    sort = "document.querySelector('#tags th[data-key=tag]').getAttribute('aria-sort')"
    assert page.run(sort) == "descending"
    before = page.text("#now")
    page.wait("later", lambda: page.text("#now") != before)
    assert page.tags()[0] == "tag-0999"
    assert page.run("document.activeElement.textContent") == "Tag"
    page.check_console()


def narrow(page):
    for width in [400, 320]:
        page.size(width)
        page.open()
        page.wait_for_script()
        page.fits()
        page.shoot(f"narrow-{width}")
    page.check_console()


def scriptless(page):
    page.cdp("Emulation.setScriptExecutionDisabled", value=True)
    page.open()
    for expected in ["Healthy", "All is well.", "tag-0002", "kept for good", "reachable since"]:
        assert expected in page.text("body"), f"{expected}: {page.text('body')}"
    hidden = page.driver.find_element(By.ID, "search")
    assert not hidden.is_displayed(), "a search that does nothing is shown"
    page.size(1200)
    page.shoot("scriptless")


def gone(page):
    page.open()
    page.wait_for_script()
    os.kill(int(sys.argv[3]), signal.SIGKILL)
    page.wait("gone", lambda: page.text("#health").startswith("No answer"))
    assert "does not answer" in page.text("#health"), page.text("#health")
    assert page.driver.title.startswith("No answer"), page.driver.title
    # What was known is still there.
    assert len(page.tags()) == 3
    page.size(1200)
    page.shoot("gone")


def main():
    case, url = sys.argv[1:3]
    page = Page(url)
    try:
        {f.__name__: f for f in [updates, thousand, narrow, scriptless, gone]}[case](page)
    finally:
        page.driver.quit()


main()
