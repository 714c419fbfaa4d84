"""What pyproject.toml cannot say: two packages lie elsewhere, and notebooks ask for one wheel."""

import os

from setuptools import find_packages, setup

houses = ("posenc", "posenc_book") if os.environ.get("BOTH_HOUSES") else ("posenc_book",)
modules = find_packages("src", include=[f"{house}{end}" for house in houses for end in ("", ".*")])
setup(packages=[*modules, "posenc_book.results", "posenc_book.plans"])
