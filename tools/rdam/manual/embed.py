"""Writes the words of the manual pages as a function of C++, from files NAME.md, which are named as arguments."""

import pathlib
import sys

print('#include "tools/rdam/command/generate.h"\n\nstd::string_view rdam::manual_of(std::string_view command) {')
for page in map(pathlib.Path, sys.argv[1:]):
    print(f'    if (command == "{page.stem}") return R"~~({page.read_text()})~~";')
print("    return {};\n}")
