"""What pyproject.toml cannot say: packages are found, and one more lies elsewhere."""

from setuptools import find_packages, setup

setup(packages=[*find_packages("src"), "posenc.results"])
