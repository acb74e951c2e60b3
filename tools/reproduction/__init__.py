"""What tools/reproduce is made of: the thesis's experiments on the machine it is started on."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # rdam.study

# The paragraphs of the page that no figure is in, by name.
WORDS = {name: " ".join(text.split()) for name, text in
         re.findall(r"^<!-- (.+) -->\n((?:.+\n)+)", pathlib.Path(__file__).with_name("page.md").read_text(), re.MULTILINE)}


class Trouble(Exception):
    """What ends a run: one line that names the thing, says what is wrong and what to do."""
