"""`make upgrade` with a package of two releases, which pip takes from a folder: no network."""

import subprocess
import zipfile

import pytest
import yaml
from sitefiles import ROOT

import upgrade
from upgrade import Outcome, Step

NEEDS = "-c requirements.txt --only-binary :all: Wave_Maker"
SAYS = "import wavemaker; print('1 passed'); wavemaker.old or print('FAILED old is gone')"


def step(code):
    return Step("wave-maker", NEEDS, (("{python}", "-c", code),), r"^FAILED ")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A repository that pins release 1.0, and a folder that has 2.0 beside it."""
    wheels, root = tmp_path / "wheels", tmp_path / "repository"
    for version, code in (("1.0", "old = True"), ("2.0", "old = False")):
        wheels.mkdir(exist_ok=True)
        info = f"wave_maker-{version}.dist-info"
        with zipfile.ZipFile(wheels / f"wave_maker-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("wavemaker.py", code)
            meta = f"Metadata-Version: 2.1\nName: wave-maker\nVersion: {version}\n"
            wheel.writestr(f"{info}/METADATA", meta)
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "requirements.txt").write_text("# pins\nwave_maker==1.0  # the wave\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    return root


@pytest.mark.slow
def test_the_newest_release_is_tried_beside_the_pins_and_what_breaks_is_counted(small):
    outcome = upgrade.attempt(step(SAYS), small)
    bump = ["requirements.txt: wave-maker==2.0, not 1.0"]
    assert outcome == Outcome("wave-maker", "1.0", "2.0", ["FAILED old is gone"], bump)
    assert "1 broken. Keep the pin until these are mended:" in upgrade.told(outcome)
    assert bump[0] not in upgrade.told(outcome)
    assert sorted(path.name for path in small.iterdir()) == [".git", "requirements.txt"]


def test_the_weekly_run_takes_each_of_the_packages():
    jobs = yaml.safe_load((ROOT / ".github/workflows/weekly.yml").read_text())["jobs"]
    assert jobs["upgrade"]["strategy"]["matrix"]["package"] == [*upgrade.STEPS]
    assert jobs["upgrade"]["steps"][-1]["run"].startswith("make upgrade ONLY=")


def test_each_package_is_pinned_and_what_is_run_is_here():
    pins = upgrade.pins(ROOT)
    for one in upgrade.STEPS.values():
        assert upgrade._normal(one.package) in pins
        named = [word for word in one.needs.split() if word.endswith(".txt")]
        assert all((ROOT / word).is_file() for word in named)
