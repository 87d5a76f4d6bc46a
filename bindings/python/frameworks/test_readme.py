"""The lines of the README for each framework, as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


def section(heading: str) -> str:
    return README.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def requires(package: str) -> None:
    """Skips a test that needs another version of a package, or a package that is not there."""
    name, _, least = package.partition(">=")
    try:
        found = version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    if least and int(found.split(".")[0]) < int(least):
        pytest.skip(f"{name} is {found}")


def files(heading: str, folder: Path) -> dict[str, str]:
    """The files of a section, by name, with addresses in `folder`."""
    found = re.findall(r"^```py\n# (\S+)\n(.*?)^```$", section(heading), re.M | re.S)
    assert found
    return {name: text.replace("/srv/", f"{folder}/") for name, text in found}


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
    found = files("Django", tmp_path)
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
    ("heading", "package", "said"),
    [("SQLAlchemy", "sqlalchemy>=2", r"\[\(\d{18,19}, 'Ada'\), \(\d{18,19}, 'Grace'\)\]\n")],
)
def test_a_program(heading: str, package: str, said: str, tmp_path: Path) -> None:
    requires(package)
    (program,) = re.findall(r"^```python\n(.*?)^```$", section(heading), re.M | re.S)
    program = program.replace("/srv/", f"{tmp_path}/")
    assert re.fullmatch(said, run(tmp_path, "-c", program))


def test_fastapi(tmp_path: Path) -> None:
    requires("fastapi")
    for name, text in files("pydantic and FastAPI", tmp_path).items():
        (tmp_path / name).write_text(text)
    program = "from app import app; from fastapi.testclient import TestClient\n"
    program += "with TestClient(app) as client:\n"
    program += "    print(client.post('/orders?customer=Ada').text)"
    said = run(tmp_path, "-c", program)
    assert re.fullmatch(r'\{"id":"\d{18,19}","customer":"Ada"\}\n', said)
