"""What `test` asks of a real browser: Debian's chromium-driver and python3-selenium.

    test.py FOLDER TOOL

Ends with 0 if the pages in FOLDER say what the program TOOL says, and send nothing. Screenshots go
to the folder that UIDRING_SCREENSHOTS names, if it does.
"""

import functools
import http.server
import json
import os
import random
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

IDS = 10_000
# Bits of time, worker and sequence; milliseconds of a tick; the epoch; and where the worker is.
FORMATS = {
    "default": (30, 20, 13, 1000, "2026-01-01T00:00:00", "middle"),
    "uid-generator": (28, 22, 13, 1000, "2016-05-19T16:00:00", "middle"),
    "uid-generator-starter": (30, 16, 7, 1000, "2019-02-19T16:00:00", "middle"),
    "twitter": (41, 10, 12, 1, "2010-11-04T01:42:54.657", "middle"),
    "sharding-sphere": (41, 10, 12, 1, "2016-11-01T00:00:00", "middle"),
    "seata": (41, 10, 12, 1, "2020-05-02T16:00:00", "top"),
    "js-safe": (31, 10, 12, 1000, "2026-01-01T00:00:00", "middle"),
    "discord": (41, 10, 12, 1, "2015-01-01T00:00:00", "middle"),
    "instagram": (40, 13, 10, 1, "2011-08-24T21:07:01.721", "middle"),
    "tsid": (41, 10, 12, 1, "2020-01-01T00:00:00", "middle"),
    "sonyflake": (39, 16, 8, 10, "2014-09-01T00:00:00", "bottom"),
    "sonyflake-2": (39, 16, 8, 10, "2025-01-01T00:00:00", "bottom"),
    "mastodon": (47, 0, 16, 1, "1970-01-01T00:00:00", "middle"),
}
SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def base32(number):
    return "".join(SYMBOLS[number >> 5 * at & 31] for at in reversed(range(13)))


def expected(name, number):
    """Time, worker and sequence by the rules of the format alone."""
    time_bits, worker_bits, sequence_bits, tick, epoch, place = FORMATS[name]
    low = number & ((1 << sequence_bits) - 1)
    worker = number >> sequence_bits & ((1 << worker_bits) - 1)
    ticks = number >> worker_bits + sequence_bits
    if place == "top":
        ticks = number >> sequence_bits & ((1 << time_bits) - 1)
        worker = number >> sequence_bits + time_bits
    if place == "bottom":
        worker = number & ((1 << worker_bits) - 1)
        low = number >> worker_bits & ((1 << sequence_bits) - 1)
    begin = datetime.fromisoformat(epoch).replace(tzinfo=timezone.utc)
    try:
        told = (begin + timedelta(milliseconds=ticks * tick)).isoformat(timespec="milliseconds")
    except OverflowError:
        return None, str(worker) if worker_bits else None, str(low)
    told = told.replace("+00:00", "Z")
    if tick == 1000:
        told = told.replace(".000Z", "Z")
    return told, str(worker) if worker_bits else None, str(low)


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves the pages, and remembers what it was asked for."""

    asked = []

    def do_GET(self):
        Files.asked.append(self.path.split("?")[0])
        super().do_GET()

    def log_message(self, *_):
        pass


def in_texts(text):
    """JSON of the tool, with a text for each number."""
    return json.loads(text, parse_int=str, parse_float=str)


def ids():
    """Numbers with the names of formats: of all sizes, and those of ids that are made today."""
    chance = random.Random(58)
    for index in range(IDS):
        name = list(FORMATS)[index % len(FORMATS)]
        bits = chance.randrange(1, 64)
        number = chance.randrange(1 << bits - 1, 1 << bits)
        if index % 3 == 0:
            time_bits, worker_bits, sequence_bits, tick, epoch, place = FORMATS[name]
            begin = datetime.fromisoformat(epoch).replace(tzinfo=timezone.utc)
            # A day on either side of the present is left out: the clocks of the two differ.
            age = datetime.now(timezone.utc) - begin - timedelta(days=1)
            ticks = int(age / timedelta(milliseconds=tick) * chance.random()) % (1 << time_bits)
            low = chance.randrange(1 << worker_bits + sequence_bits)
            number = ticks << worker_bits + sequence_bits | low
        yield name, max(number, 1)


def compare_ids(driver, tool):
    made = list(ids())
    asked = [
        {"ask": "apart", "id": base32(number) if index % 2 else str(number), "preset": name,
         "base32": "yes" if index % 2 else ""}
        for index, (name, number) in enumerate(made)
    ]
    script = "return arguments[0].map((asked) => ask({ ...asked, now_ms: nowMs() }))"
    answers = []
    for begin in range(0, len(asked), 1000):
        answers += driver.execute_script(script, asked[begin : begin + 1000])
    of_tool = {}
    for name in FORMATS:
        lines = "\n".join(str(number) for made_by, number in made if made_by == name)
        command = [tool, "parse", "--json", "--preset", name]
        run = subprocess.run(command, input=lines, text=True, check=True, stdout=subprocess.PIPE)
        of_tool[name] = iter(run.stdout.splitlines())
    for (name, number), answer in zip(made, answers, strict=True):
        record = answer["record"]
        told = in_texts(next(of_tool[name]))
        # The page writes local time itself.
        told["local"] = None
        assert record == told, (name, number, record, told)
        fields = (record["time"], record["worker"], record["sequence"])
        assert fields == expected(name, number), (name, number, fields, expected(name, number))
        assert (record["uid"], record["base32"]) == (str(number), base32(number))
        again = next(by["record"] for by in answer["presets"] if by["name"] == name)
        assert again == record, (name, number)
    print(f"{len(answers)} ids: page, tool and arithmetic agree")


def compare_plans(driver, tool):
    count = 0
    for rate in ["0.5", "1000", "20k", "1.5M"]:
        for nodes in ["1", "20", "100k"]:
            for years in ["1", "30", "300"]:
                for more in [{}, {"peak": "2M", "peak_for": "2h"}, {"oldest": "2015-03-01"}]:
                    asked = {"ask": "plan", "rate": rate, "nodes": nodes, "years": years, **more}
                    script = "return ask({ ...arguments[0], now_ms: nowMs() })"
                    report = driver.execute_script(script, asked)["report"]
                    options = [f"--{name.replace('_', '-')}={value}"
                               for name, value in asked.items() if name != "ask"]
                    run = subprocess.run([tool, "plan", "--json", *options], text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                    told = in_texts(run.stdout)
                    for moving in (report, told):
                        # It follows the clock.
                        moving["needs"].pop("until")
                    assert report == told, (asked, report, told)
                    count += 1
    print(f"{count} plans: page and tool agree")


def use_as_people(driver, folder):
    """With the keyboard alone, in both languages."""
    errors = []
    for language, words in [("en", "What it may be"), ("zh", "可能的来源")]:
        driver.get(f"{folder}/take-apart.html?lang={language}")
        field = driver.find_element(By.ID, "id")
        field.send_keys("175928847299117063")
        assert words in driver.find_element(By.ID, "result").text
        row = next(row.text for row in driver.find_elements(By.CSS_SELECTOR, "tbody tr")
                   if row.text.startswith("discord"))
        assert "2016-04-30T11:18:25.796Z" in row and row.endswith("32 7"), row
        field.send_keys("x")
        problem = driver.find_element(By.ID, "problem")
        assert problem.text and field.get_attribute("aria-invalid") == "true"
        assert not driver.find_element(By.ID, "result").is_displayed()
        field.send_keys(Keys.BACKSPACE)
        assert not problem.text
        shoot(driver, f"apart-{language}")
        driver.get(f"{folder}/plan-a-layout.html?lang={language}")
        driver.find_element(By.ID, "years").send_keys(Keys.TAB)
        assert driver.switch_to.active_element.get_attribute("id") == "restarts_per_day"
        assert "uidring take --layout" in driver.find_element(By.ID, "result").text
        shoot(driver, f"plan-{language}")
        rate = driver.find_element(By.ID, "rate")
        rate.clear()
        rate.send_keys("100M")
        assert driver.find_elements(By.CSS_SELECTOR, "#result li")
        errors += driver.get_log("browser")
        for page in ["take-apart", "plan-a-layout"]:
            driver.get(f"{folder}/{page}.html?lang={language}")
            unnamed = driver.execute_script(
                "return [...document.querySelectorAll('input, select')]"
                ".filter((input) => !input.labels.length || !input.labels[0].textContent).length")
            assert unnamed == 0
            untold = driver.execute_script(
                "return [...document.querySelectorAll('[data-word]')]"
                ".filter((told) => told.textContent === told.dataset.word).map((t) => t.outerHTML)")
            assert not untold, untold
    assert not errors, errors


def shoot(driver, name):
    """No window is too narrow for the page, in light and in dark."""
    for width in [1280, 390]:
        for scheme in ["light", "dark"]:
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                   {"width": width, "height": 900, "deviceScaleFactor": 1,
                                    "mobile": False})
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide in {width}"
            if shots := os.environ.get("UIDRING_SCREENSHOTS"):
                height = driver.execute_script("return document.documentElement.scrollHeight")
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                       {"width": width, "height": height, "deviceScaleFactor": 1,
                                        "mobile": False})
                driver.save_screenshot(f"{shots}/{name}-{width}-{scheme}.png")


def sends_nothing(driver, folder):
    """No request but for the page's own files, and none that a script could make."""
    own = {"/take-apart.html", "/plan-a-layout.html", "/tools.css", "/module.js", "/words.js",
           "/tools.js", "/take-apart.js", "/plan-a-layout.js"}
    assert set(Files.asked) == own, set(Files.asked) ^ own
    entries = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert all(name.startswith(folder) for name in driver.execute_script(entries))
    before = len(Files.asked)
    refused = driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "fetch('words.js').then(() => done(false), () => done(true))")
    assert refused and len(Files.asked) == before


def main(pages, tool):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Files, directory=pages))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = f"http://127.0.0.1:{server.server_port}"
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        begin = time.monotonic()
        driver.set_script_timeout(300)
        driver.get(f"{folder}/plan-a-layout.html?lang=en")
        compare_plans(driver, tool)
        driver.get(f"{folder}/take-apart.html?lang=en")
        compare_ids(driver, tool)
        use_as_people(driver, folder)
        sends_nothing(driver, folder)
        print(f"in {time.monotonic() - begin:.0f} s")
    finally:
        driver.quit()
        server.shutdown()


main(*sys.argv[1:])
