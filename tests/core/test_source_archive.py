"""Tests as the source archive has them: without the book and without `.github`."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_what_speaks_of_the_book_is_left_out_and_said(tmp_path):
    for name in ("conftest.py", "core/test_api.py", "core/test_tables.py"):
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TESTS / name, tmp_path / "tests" / name)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "tests", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert "core/test_tables.py" in run.stdout
    assert "core/test_api.py" not in run.stdout


def test_the_report_names_them(monkeypatch):
    place = importlib.util.spec_from_file_location("archived", TESTS / "conftest.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    assert module.pytest_report_header() is None  # here the book is at hand
    monkeypatch.setattr(module, "WHOLE", False)
    said = module.pytest_report_header()
    assert said.startswith("left out, as book/ and .github/ are not here: ")
    assert {"test_api.py", "test_browser.py"} <= set(said.partition(": ")[2].split(", "))
    assert "test_tables.py" not in said
