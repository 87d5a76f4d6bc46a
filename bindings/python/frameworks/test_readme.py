"""The lines of the README for each framework, as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


def files(heading: str, folder: Path) -> dict[str, str]:
    """The files of a section, by name, with addresses in `folder`."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^```py\n# (\S+)\n(.*?)^```$", section, re.M | re.S)
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


@pytest.mark.skipif(find_spec("django") is None, reason="Django is not installed")
def test_django(tmp_path: Path) -> None:
    """A project as Django itself lays it."""
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
