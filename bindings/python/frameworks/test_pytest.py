"""The plugin of pytest, in sessions of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

import uidring
from test_pages import files
from uidring import testing

TESTS = """
import os, pytest, uidring

taken = []

@pytest.mark.parametrize("number", range(10))
def test_take(number, {fixture}):
    taken.extend(uidring.take() for _ in range(100))
    assert len(set(taken)) == len(taken)
    with open("taken", "a") as file:
        file.write("".join(f"{{uid}}\\n" for uid in taken[-100:]))

def test_status({fixture}):
    assert uidring.generator().status()["state"] == "running"
"""


def session(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", *options]
    environment = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def taken(folder: Path) -> List[int]:
    return [int(line) for line in (folder / "taken").read_text().split()]


def test_the_lines_of_the_readme_give_ids_to_all_tests(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(files("pytest-and-workers", tmp_path)["conftest.py"])
    (tmp_path / "test_shop.py").write_text(TESTS.format(fixture="request"))
    end = session(tmp_path)
    assert end.returncode == 0 and "11 passed" in end.stdout, end.stdout
    assert len(set(taken(tmp_path))) == 1000
    assert sorted(path.name for path in tmp_path.glob("*.db*")) == []


def test_a_test_asks_for_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(TESTS.format(fixture="uidring_generator"))
    end = session(tmp_path)
    assert end.returncode == 0 and "11 passed" in end.stdout, end.stdout
    (tmp_path / "test_shop.py").write_text(TESTS.format(fixture="request"))
    end = session(tmp_path)
    assert end.returncode == 1 and "call uidring.configure" in end.stdout, end.stdout


def test_no_two_processes_of_xdist_have_an_id_twice(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_shop.py").write_text(TESTS.format(fixture="uidring_generator"))
    end = session(tmp_path, "-n", "2", "--dist", "each")
    assert end.returncode == 0 and "22 passed" in end.stdout, end.stdout
    assert len(set(taken(tmp_path))) == 2000


def test_each_generator_in_memory_has_a_worker_id_of_its_own(put_back: None) -> None:
    uidring.configure(worker_id=900)
    with testing.in_memory() as one:
        assert uidring.generator() is one
        with testing.in_memory(preset="twitter") as other:
            assert uidring.generator() is other
            assert uidring.take() != one.take()
            assert other.worker_id != one.worker_id
        assert uidring.generator() is one
        with pytest.raises(uidring.ClosedError):
            other.take()
    with testing.in_memory(worker_id=5) as own:
        assert own.worker_id == 5
    assert uidring.generator().worker_id == 900


def test_a_block_that_fails_puts_back_what_was_there(put_back: None) -> None:
    uidring.configure(worker_id=900)
    with pytest.raises(ZeroDivisionError):
        with testing.in_memory():
            1 / 0
    assert uidring.generator().worker_id == 900
