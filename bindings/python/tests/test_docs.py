"""What documents say: docstrings, the README and the example."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

import uidring
from uidring import _uidring

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CLASSES = [
    uidring.Masked,
    uidring.Opaque,
    uidring.PastGenerator,
    uidring.Segments,
    uidring.Series,
    uidring.Tag,
    uidring.UidGenerator,
    uidring.WorkerId,
]


def native() -> Iterator[tuple[str, Any]]:
    """The classes of the native part and what they have, which doctest does not find."""
    for kind in CLASSES:
        yield kind.__name__, kind
        for name, value in vars(kind).items():
            yield f"{kind.__name__}.{name}", getattr(value, "__func__", value)


def docs() -> dict[str, tuple[str, dict[str, Any]]]:
    found = {}
    for name, value in native():
        found[name] = (value.__doc__ or "", {"uidring": uidring, **vars(uidring)})
    modules = [f"uidring.{module.name}" for module in pkgutil.iter_modules(uidring.__path__)]
    for module in ["uidring", *modules]:
        loaded = importlib.import_module(module)
        if loaded is _uidring:
            continue
        for test in doctest.DocTestFinder().find(loaded):
            # Some of the native part's are found again.
            if test.name.replace("uidring.", "", 1) not in found:
                found[test.name] = (test.docstring or "", vars(loaded))
    return {name: doc for name, doc in found.items() if ">>>" in doc[0]}


DOCS = docs()


@pytest.mark.parametrize("name", DOCS)
def test_what_docstrings_show_is_so(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, names = DOCS[name]
    text = text.replace("/srv/uidring.db", str(tmp_path / "uidring.db"))
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, None)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(test).attempted > 0
    assert runner.failures == 0


def test_docstrings_show_each_class_and_module() -> None:
    shown = {kind.__name__ for kind in CLASSES} - {"Tag"} | {"UidGenerator.fill", "uidring"}
    assert shown <= set(DOCS), sorted(DOCS)


def test_all_that_is_public_has_a_docstring() -> None:
    for name, value in native():
        if not name.split(".")[-1].startswith("_"):
            assert value.__doc__, name
    for name in set(uidring.__all__) - {"__version__"}:
        assert getattr(uidring, name).__doc__, name


def programs() -> list[str]:
    others = [ROOT / "numbers.md", ROOT.parent.parent / "docs" / "testing.md"]
    pages = README + "".join(page.read_text() for page in others)
    return re.findall(r"^```python\n(.*?)^```$", pages, re.M | re.S)


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.split("\n")[0])
def test_the_programs_of_the_pages_run(program: str, tmp_path: Path) -> None:
    program = program.replace("/srv/uidring.db", str(tmp_path / "uidring.db"))
    run([sys.executable, "-W", "error", "-c", program], tmp_path)


def test_the_pages_have_programs() -> None:
    assert len(programs()) >= 5


def run(command: list[str], folder: Path) -> str:
    end = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (end.returncode, end.stderr) == (0, "")
    return end.stdout


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("UidGenerator.open", "_UidOptions"),
        ("PastGenerator.open", "_UidOptions"),
        ("Segments.open", "_SegmentsOptions"),
        ("Segments.create", "_TagOptions"),
        ("Series.open", "_LoadOptions"),
        ("Series.create", "_NewSeriesOptions"),
        ("WorkerId.lend", "_LoanOptions"),
    ],
)
def test_the_stubs_have_each_option(call: str, name: str) -> None:
    tree = ast.parse((ROOT / "python" / "uidring" / "_uidring.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def names(kind: ast.ClassDef) -> list[str]:
        bases = [base.id for base in kind.bases if isinstance(base, ast.Name)]
        inherited = [names(classes[base]) for base in bases if base in classes]
        own = [line for line in kind.body if isinstance(line, ast.AnnAssign)]
        return sum(inherited, []) + [line.target.id for line in own]  # type: ignore[union-attr]

    assert sorted(names(classes[name])) == sorted(_uidring._options(call))


def test_the_readme_has_each_error() -> None:
    for name in uidring.__all__:
        if name.endswith("Error"):
            assert f"`{name}`" in README


def test_the_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    example = ROOT / "examples" / "orders.py"
    said = run([sys.executable, "-W", "error", str(example), str(tmp_path)], tmp_path)
    lines = said.splitlines()
    assert len(lines) == 3
    ids = [int(line.split()[0]) for line in lines]
    assert ids == sorted(set(ids))
    assert [line.split()[1][-2:] for line in lines] == ["-1", "-2", "-3"]


def test_the_version_is_that_of_the_library() -> None:
    manifest = (ROOT.parent.parent / "Cargo.toml").read_text()
    assert f'[workspace.package]\nversion = "{uidring.__version__}"\n' in manifest
