"""The lines of the pages of the frameworks, as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "frameworks"


def blocks(page: str, language: str) -> list[str]:
    """The programs of a page."""
    text = (PAGES / f"{page}.md").read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    assert found, page
    return found


def requires(package: str) -> None:
    """Skips a test that needs another version of a package, or a package that is not there."""
    name, _, least = package.partition(">=")
    try:
        found = version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if least and int(found.split(".")[0]) < int(least):
        pytest.skip(f"{name} is {found}")


def files(page: str, folder: Path) -> dict[str, str]:
    """The files of a page, by name, with addresses in `folder`."""
    found = [block.split("\n", 1) for block in blocks(page, "py")]
    return {head[len("# ") :]: text.replace("/srv/", f"{folder}/") for head, text in found}


def run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    end = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert end.returncode == 0, end.stdout + end.stderr
    return end.stdout


def test_django(tmp_path: Path) -> None:
    """A project as Django itself lays it."""
    requires("django")
    found = files("django", tmp_path)
    run(tmp_path, "-m", "django", "startproject", "site1", ".")
    run(tmp_path, "manage.py", "startapp", "shop")
    with open(tmp_path / "site1" / "settings.py", "a") as file:
        file.write(found["settings.py"] + 'INSTALLED_APPS += ["shop"]\n')
    (tmp_path / "shop" / "models.py").write_text(found["models.py"])
    create = "import uidring; uidring.Series.open('db.sqlite3').create("
    run(tmp_path, "-c", create + "'invoices', '{yyyy}-{n:5}', gapless=True)")
    run(tmp_path, "manage.py", "makemigrations", "shop")
    run(tmp_path, "manage.py", "migrate")
    program = "from shop.models import Order; import uidring\n"
    program += "order = Order(); order.send(); order = Order.objects.get(pk=order.pk)\n"
    program += "print(order.pk in range(2**53, 2**63), order.invoice[4:])"
    said = run(tmp_path, "manage.py", "shell", "-c", program)
    assert said.splitlines()[-1] == "True -00001"


@pytest.mark.parametrize(
    ("page", "package", "said"),
    [("sqlalchemy", "sqlalchemy>=2", r"\[\(\d{18,19}, 'Ada'\), \(\d{18,19}, 'Grace'\)\]\n")],
)
def test_a_program(page: str, package: str, said: str, tmp_path: Path) -> None:
    requires(package)
    (program,) = blocks(page, "python")
    program = program.replace("/srv/", f"{tmp_path}/")
    assert re.fullmatch(said, run(tmp_path, "-c", program))


def test_fastapi(tmp_path: Path) -> None:
    requires("fastapi")
    for name, text in files("fastapi", tmp_path).items():
        (tmp_path / name).write_text(text)
    program = "from app import app; from fastapi.testclient import TestClient\n"
    program += "with TestClient(app) as client:\n"
    program += "    print(client.post('/orders?customer=Ada').text)"
    said = run(tmp_path, "-c", program)
    assert re.fullmatch(r'\{"id":"\d{18,19}","customer":"Ada"\}\n', said)
