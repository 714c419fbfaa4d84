"""What pyproject.toml cannot say: one package lies elsewhere and holds a script that stays."""

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

RESULTS = "posenc.results"


class DataOnly(build_py):
    """Take the stored results into the wheel, and leave out the script that made some of them."""

    def find_package_modules(self, package, package_dir):
        return [] if package == RESULTS else super().find_package_modules(package, package_dir)


setup(packages=[*find_packages("src"), RESULTS], cmdclass={"build_py": DataOnly})
