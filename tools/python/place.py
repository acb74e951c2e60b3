"""Prints where modules are put under a prefix (argument): the place that Python looks at, else a folder of rdam's own."""

import pathlib
import sys

prefix = pathlib.Path(sys.argv[1])
known = [pathlib.Path(entry) for entry in sys.path if entry.endswith("-packages")]
inside = [place.relative_to(prefix) for place in known if place.is_relative_to(prefix)]
inside = [place for place in inside if place.parts[0] != "local"]  # /usr/local is a prefix of its own
print(inside[0] if inside else "share/rdam/python")
