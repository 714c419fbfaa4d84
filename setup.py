"""What pyproject.toml cannot say: one package lies elsewhere."""

from setuptools import find_packages, setup

setup(packages=[*find_packages("src"), "posenc.results"])
