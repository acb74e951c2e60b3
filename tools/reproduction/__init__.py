"""What tools/reproduce is made of: the thesis's experiments on the machine it is started on."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # rdam.study


class Trouble(Exception):
    """What ends a run: one line that names the thing, says what is wrong and what to do."""
