"""The benchmark's command line; the experiments above add their own commands to it."""

import sys

from posenc._pipes import piped
from posenc.experiments.command_line import main

if __name__ == "__main__":
    sys.exit(piped(main))
