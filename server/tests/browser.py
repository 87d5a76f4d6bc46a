"""What `service/page.rs` and `service/hosts.rs` ask of a real browser: Debian's chromium-driver and
python3-selenium.

    browser.py CASE URL PROCESS

Ends with 0 if the page at URL, of the server that is PROCESS, is as CASE expects. Screenshots go to
the folder that UIDRING_SCREENSHOTS names, if it does: of a wide window and of a narrow one, in
light and in dark.
"""

import http.server
import os
import re
import signal
import statistics
import sys
import threading
import time
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

LONGEST_WAIT = 30


class Page:
    def __init__(self, url):
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"]:
            options.add_argument(argument)
        # Names of others lead to this machine, as their owners can have it.
        options.add_argument("--host-resolver-rules=MAP *.test 127.0.0.1")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.url = url

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def open(self, query=""):
        self.driver.get(self.url + query)

    def size(self, width, height=900):
        sizes = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setDeviceMetricsOverride", **sizes)

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def text(self, css):
        """What is read there, which is nothing where there is no such place for now."""
        try:
            return self.find(css).text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

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
        self.wait("live", lambda: self.run("'isLive' in document.documentElement.dataset"))

    def wait_for_update(self):
        before = self.run("document.getElementById('now').dateTime")
        now = "document.getElementById('now').dateTime"
        self.wait("later", lambda: self.run(now) != before)

    def shoot(self, name):
        """The page in its present state, which is to fit windows of all widths."""
        folder = os.environ.get("UIDRING_SCREENSHOTS")
        for width in [1280, 390, 320]:
            self.size(width)
            seen = self.run("[document.documentElement.scrollWidth, window.innerWidth]")
            assert seen[0] <= seen[1], f"the page is {seen[0]} wide in a window of {seen[1]}"
            for scheme in ["light", "dark"] if folder else []:
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                self.cdp("Emulation.setEmulatedMedia", features=features)
                height = self.run("document.documentElement.scrollHeight")
                self.size(width, min(height, 2500))
                time.sleep(0.3)
                self.driver.save_screenshot(f"{folder}/{name}-{width}-{scheme}.png")
        self.size(1280)

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
    taken = "#tags tbody tr:nth-child(2) td:last-child"
    assert page.text(taken) == "7", page.text(taken)
    for _ in range(40):
        ask(page.url + "v1/tags/tag-0001/ids?n=100")
        ask(page.url + "v1/uids?n=20000")
    page.wait("counted", lambda: page.text(taken) == "4,007")
    for chart in ["uids", "numbers", "requests", "latency"]:
        line = f"document.querySelector('#{chart} path.first').getAttribute('d')"
        # Above the lowest edge. A second alone, before and after which nothing was answered, is a
        # point of its own.
        page.wait(f"{chart} drawn", lambda: any(not point.removesuffix("h0").endswith(",40.00")
                                                for point in re.split("[ML]", page.run(line))[1:]))
        scale = [page.text(f"#{chart} .{place}") for place in ["zero", "ago", "now"]]
        assert scale == ["0", "2 min ago", "now"], scale
        assert page.text(f"#{chart} .top") not in ["", "0"], chart
    # What is announced stays as it is, and what has the focus keeps it.
    page.find("#filter").send_keys("tag-000")
    page.wait("searched", lambda: "tag=tag-000" in page.driver.current_url)
    page.run("new MutationObserver(() => { window.announced = true; })"
             ".observe(document.getElementById('health'), "
             "{ subtree: true, childList: true, characterData: true, attributes: true })")
    page.wait_for_update()
    page.wait_for_update()
    assert not page.run("window.announced"), "the line of health was written anew"
    assert page.run("document.activeElement.id") == "filter"
    page.shoot("healthy")
    page.check_console()


def search(page):
    page.open()
    page.wait_for_script()
    assert len(page.tags()) == 100, len(page.tags())
    whole = page.text("#pages")
    count = int(re.match("1 to 100 of ([0-9,]+)", whole)[1].replace(",", ""))
    last = f"tag-{count - 1}"
    field = page.find("#filter")
    field.send_keys(last.upper())
    page.wait("found", lambda: page.tags() == [last])
    assert page.text("#found") == "1 found", page.text("#found")
    assert page.run("document.activeElement.id") == "filter"
    field.send_keys("x")
    page.wait("empty", lambda: page.tags() == [])
    page.wait_for_update()
    assert page.tags() == [] and page.text("#found") == "0 found"
    # An address can be given to somebody else.
    page.open(f"?tag={last[:-2]}&sort=-tag")
    page.wait_for_script()
    assert page.find("#filter").get_attribute("value") == last[:-2]
    assert page.tags()[0] == last and len(page.tags()) == 100, page.tags()
    page.find("#filter").clear()
    page.find("#filter").send_keys(" ", Keys.BACKSPACE)
    page.wait("whole", lambda: page.text("#pages") == whole)
    page.find("#pages a[rel=next]").click()
    page.wait("next", lambda: page.tags()[0] == f"tag-{count - 101}")
    # By keyboard: from the search to the table, and to the heads of its columns.
    page.find("#filter").send_keys(Keys.TAB)
    assert page.run("document.activeElement.className") == "wide"
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    link = page.driver.switch_to.active_element
    assert link.text.startswith("Tag"), link.text
    link.send_keys(Keys.ENTER)
    page.wait("sorted", lambda: page.tags()[0] == "tag-0000")
    sort = "document.querySelector('#tags th[aria-sort]').getAttribute('aria-sort')"
    assert page.run(sort) == "ascending"
    page.wait_for_update()
    assert page.run("document.activeElement.textContent").startswith("Tag")
    page.shoot("many")
    page.check_console()


def cost(page):
    """Prints how long the processor works for one redraw, in milliseconds."""
    page.size(1280)
    page.open()
    page.wait_for_script()
    page.cdp("Performance.enable", timeDomain="threadTicks")

    def worked():
        metrics = page.cdp("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    redraws = []
    for _ in range(8):
        page.wait_for_update()
        time.sleep(0.3)
        before = worked()
        page.wait_for_update()
        time.sleep(0.3)
        redraws.append((worked() - before) * 1000)
    print(round(statistics.median(redraws), 1))


def check_reasons(page):
    """Each reason touches the row above it, and nothing of a row is cut off."""
    rows = page.run("[...document.querySelectorAll('tbody tr')].map(row => [row.className, "
                    "row.getBoundingClientRect().top, row.getBoundingClientRect().bottom])")
    for before, now in zip([None] + rows, rows):
        if "reason" in now[0]:
            assert before and "reason" not in before[0] and abs(before[2] - now[1]) < 2, rows
            assert before[0] in now[0], rows
    if page.run("window.innerWidth") < 640:
        cut = page.run("[...document.querySelectorAll('tbody td, tbody th')].filter(cell => "
                       "cell.getBoundingClientRect().right > window.innerWidth).length")
        assert cut == 0, f"{cut} cells are cut off"


def failing(page):
    page.open("?sort=-taken")
    page.wait_for_script()
    page.wait_for_update()
    assert page.tags()[0] == "tag-0150", page.tags()[:3]
    assert page.driver.title.startswith("Warning, 1 tag fails"), page.driver.title
    assert page.text("#tags-title") == "Tags used here (200) 1 tag fails", page.text("#tags-title")
    assert "tag-0150" in page.text("#health"), page.text("#health")
    assert page.text("#tags tbody .failing td") == "empty"
    reason = page.text("#tags tbody .reason")
    assert "the tag \"tag-0150\"" in reason and "no numbers left" in reason, reason
    state = page.text("#health") + page.text("#tags")
    assert state.count("no numbers left") == 1, state[:2000]
    # A long text is as wide as the window, and squeezes no column.
    page.run("document.querySelector('.reason p').append(' long'.repeat(200))")
    for width in [1280, 390]:
        page.size(width)
        wide = page.run("document.querySelector('.reason p').getBoundingClientRect().width")
        seen = page.run("document.querySelector('.wide').clientWidth")
        assert 0.9 * seen < wide <= seen, f"{wide} of {seen}"
        heights = page.run("[...document.querySelectorAll('#tags tbody tr:not(.reason)')]"
                           ".map(row => row.getBoundingClientRect().height)")
        assert max(heights) < 1.5 * min(heights), heights
        check_reasons(page)
    page.size(1280)
    page.wait_for_update()
    page.shoot("failing")
    page.check_console()


def away(page):
    page.open()
    page.wait_for_script()
    page.wait("away", lambda: page.text("#database").startswith("AWAY since"))
    assert page.text("#health").startswith("Warning"), page.text("#health")
    assert page.driver.title.startswith("Warning"), page.driver.title
    page.shoot("away")
    page.check_console()


def worst(page):
    page.open()
    page.wait_for_script()
    page.wait_for_update()
    health = page.text("#health")
    for told in ["UIDs cannot be given", "invoices", "payments", "contracts in ever, scope lima"]:
        assert told in health, f"{told}: {health}"
    assert page.text("#state-uids") == "NOT GIVEN", page.text("#state-uids")
    assert "404: 1" in page.text("#answers") and "409: 1" in page.text("#answers")
    # One event for all scopes of a series.
    assert page.text("#events").count("shop-") <= 1, page.text("#events")
    for width in [1280, 390]:
        page.size(width)
        page.wait_for_update()
        check_reasons(page)
    page.size(1280)
    page.shoot("worst")
    page.check_console()


def from_memory(page):
    page.open()
    page.wait_for_script()
    page.wait("from memory", lambda: page.text("#state-uids").startswith("until 20"))
    assert "UIDs end at" in page.text("#health"), page.text("#health")
    page.wait_for_update()
    assert page.text("#tags tbody td").startswith("from memory"), page.text("#tags")
    assert page.text("#health").count("locked") == 1, page.text("#health")
    page.shoot("from-memory")
    page.check_console()


def hostile(page):
    page.open("?tag=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    page.wait_for_script()
    page.wait_for_update()
    assert page.tags() == ["\"><script>alert(1)</script>"], page.tags()
    page.open()
    page.wait_for_script()
    page.wait_for_update()
    expected = ["\"><script>alert(1)</script>", "&lt;b&gt;", "<img src=x onerror=alert(1)>",
                "javascript:alert(1)", "\\u{202e}gnp.exe"]
    assert page.tags() == expected, page.tags()
    # A character that turns what follows around is seen as an escape.
    assert page.driver.title == "Healthy · <b onclick=alert(1)>\\u{202e} · uidring"
    assert page.run("document.scripts.length") == 1
    for kind in ["img", "#name *", "#tags tbody a", "iframe", "object"]:
        assert page.run(f"document.querySelectorAll({kind!r}).length") == 0, kind
    for link in page.run("[...document.links].map(a => a.href)"):
        assert link.startswith(page.url), link
    page.shoot("hostile")
    page.check_console()


def narrow(page):
    for width in [400, 320]:
        page.size(width)
        page.open()
        page.wait_for_script()
        page.shoot(f"long-name-{width}")
    page.check_console()


def scriptless(page):
    page.cdp("Emulation.setScriptExecutionDisabled", value=True)
    page.open()
    for expected in ["Healthy", "All is well.", "tag-0002", "kept for good", "reachable since"]:
        assert expected in page.text("body"), f"{expected}: {page.text('body')}"
    page.find("#filter").send_keys("0001", Keys.ENTER)
    page.wait("found", lambda: "1 found" in page.text("body"))
    assert "tag-0001" in page.text("#tags") and "tag-0002" not in page.text("#tags")
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
    page.shoot("gone")


# Asks for `url` with `options`; the status, or the error, or the type of an answer without one.
FETCH = """
    const [url, options, done] = arguments;
    fetch(url, options).then(a => done(a.status || a.type), error => done(String(error)));
"""


def fetch(page, url, **options):
    return page.driver.execute_async_script(FETCH, url, options)


def rebound(page):
    """A page of somebody else whose name leads to the service, once it has been loaded."""
    port = page.url.rstrip("/").rsplit(":", 1)[1]
    page.driver.get(f"http://rebound.test:{port}/livez")
    assert page.run("location.origin") == f"http://rebound.test:{port}", page.run("location.href")
    json = {"content-type": "application/json"}
    answers = [
        fetch(page, "/v1/tags/stolen", method="PUT", headers=json, body="{}"),
        fetch(page, "/v1/tags/orders/ids?n=1000"),
        fetch(page, "/v1/tags/orders/segments?size=1000000", method="POST"),
        fetch(page, "/api/segment/get/orders"),
        fetch(page, "/tinyid/id/nextId?bizType=orders"),
        fetch(page, "/v1/status"),
    ]
    assert answers == [421] * len(answers), answers
    # The same from the service's own name.
    page.driver.get(page.url)
    assert fetch(page, "/v1/status") == 200
    assert fetch(page, "/v1/uids") == 200


class Empty(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>somebody else</title>")

    def log_message(self, *arguments):
        pass


def foreign(page):
    """A page of another origin, which does not need to see the answers."""
    port = page.url.rstrip("/").rsplit(":", 1)[1]
    server = http.server.HTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page.driver.get(f"http://other.test:{server.server_port}/")
    for host in ["127.0.0.1", "localhost", "ids.test"]:
        for path, method in [
            ("v1/tags/orders/segments?size=1000", "POST"),
            ("v1/tags/orders/ids?n=1000", "GET"),
            ("api/segment/get/orders", "POST"),
            ("api/segment/get/orders", "GET"),
            ("tinyid/id/nextId?bizType=orders", "POST"),
        ]:
            url = f"http://{host}:{port}/{path}"
            for policy in ["no-referrer", "unsafe-url"]:
                asked = dict(method=method, mode="no-cors", referrerPolicy=policy)
                # It has been sent, and the page does not see what came.
                assert fetch(page, url, **asked) == "opaque", url


CASES = [
    updates, search, cost, failing, away, worst, from_memory, hostile, narrow, scriptless, gone,
    rebound, foreign
]


def main():
    case, url = sys.argv[1:3]
    page = Page(url)
    try:
        {f.__name__: f for f in CASES}[case](page)
    finally:
        page.driver.quit()


main()
