"""Servers that fork their workers: gunicorn and Celery. Only frameworks/run runs this file."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest

from test_pages import files, requires

#: A program that takes an id before the server forks, and in two workers, each of which waits until
#: the other one has work as well.
WORK = """
import os, time, uidring

uidring.configure("uidring.db", lease="1h")
uidring.take()
with open("main.json", "w") as file:
    file.write(str(uidring.generator().worker_id))

def work(folder="."):
    uids = [uidring.take() for _ in range(1000)]
    open(f"{os.getpid()}.pid", "w").close()
    end = time.monotonic() + 60
    while len([name for name in os.listdir(folder) if name.endswith(".pid")]) < 2:
        assert time.monotonic() < end, "the other worker has no work"
        time.sleep(0.01)
    return {"pid": os.getpid(), "worker": uidring.generator().worker_id, "uids": uids}
"""
GUNICORN = """
import json
from work import work

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(work()).encode()]
"""
CELERY = """
from celery.signals import worker_process_shutdown
import tasks, work
import uidring

app = tasks.app

@app.task
def meet():
    return work.work()
"""


@contextmanager
def running(folder: Path, *command: str, **environment: str) -> Iterator[Any]:
    """A server, which is ended as one that is deployed anew."""
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, (folder / "log").read_text()
    finally:
        process.kill()
        process.wait()


def wait_for(call: Callable[[], bool], folder: Path) -> None:
    end = time.monotonic() + 60
    while not call():
        assert time.monotonic() < end, (folder / "log").read_text()
        time.sleep(0.05)


def check(folder: Path, answers: List[Dict[str, Any]]) -> None:
    """Each process has had a worker id of its own, and has given it back."""
    main = int((folder / "main.json").read_text())
    assert len({answer["pid"] for answer in answers}) == 2
    workers = {answer["worker"] for answer in answers}
    assert len(workers) == 2 and main not in workers
    uids = [uid for answer in answers for uid in answer["uids"]]
    assert len(set(uids)) == len(uids) == 2000
    with sqlite3.connect(folder / "uidring.db") as file:
        held = file.execute("SELECT id, port FROM worker_node WHERE holder IS NOT NULL").fetchall()
    file.close()
    assert held == [], (folder / "log").read_text()


@pytest.mark.parametrize("options", [[], ["--preload"]])
def test_workers_of_gunicorn(options: List[str], tmp_path: Path) -> None:
    requires("gunicorn")
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "shop.py").write_text(GUNICORN)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"

    def is_open() -> bool:
        host, port = address.split(":")
        with socket.socket() as client:
            return client.connect_ex((host, int(port))) == 0

    def get(_: int) -> Any:
        with urllib.request.urlopen(f"http://{address}/", timeout=120) as answer:
            return json.load(answer)

    command = ["gunicorn", "--workers", "2", "--bind", address, *options, "shop:app"]
    with running(tmp_path, *command):
        wait_for(is_open, tmp_path)
        with ThreadPoolExecutor(2) as pool:
            # Neither worker takes a second request before it has answered the first.
            answers = list(pool.map(get, range(2)))
    if "--preload" not in options:
        # The main process has not loaded the program: each worker has, and has taken an id.
        (tmp_path / "main.json").write_text("0")
    check(tmp_path, answers)


def test_workers_of_celery(tmp_path: Path) -> None:
    requires("celery")
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "shop.py").write_text(CELERY)
    # The lines of the page, with a broker that needs no server.
    tasks = files("pytest-and-workers", tmp_path)["tasks.py"]
    (tmp_path / "tasks.py").write_text(tasks)
    (tmp_path / "data_in").mkdir()
    (tmp_path / "data_out").symlink_to("data_in")
    broker = {"CELERY_BROKER_URL": "filesystem://", "CELERY_RESULT_BACKEND": f"file://{tmp_path}"}
    send = "import json, shop; results = [shop.meet.delay(), shop.meet.delay()]; "
    send += "print(json.dumps([result.get(timeout=90) for result in results]))"
    command = ["celery", "--app", "shop", "worker", "--concurrency", "2"]
    with running(tmp_path, *command, **broker):
        # What sends tasks is a process of its own, which has a worker id as well.
        end = subprocess.run(
            [sys.executable, "-c", send],
            cwd=tmp_path,
            env={**os.environ, **broker},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert end.returncode == 0, end.stderr + (tmp_path / "log").read_text()
    check(tmp_path, json.loads(end.stdout))
