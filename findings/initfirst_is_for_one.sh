#!/bin/bash
# `ld -z initfirst` promises that a library's constructors run before all others. glibc keeps one such library in mind: the one that
# was loaded last. So a library of the program takes the promise away from one that is preloaded, without a word. The loser is not
# merely second: preloaded libraries stand at the end of the usual order, so its constructors run after those of all other libraries.
#
# Version: glibc 2.36 (elf/dl-load.c keeps one pointer, elf/dl-init.c runs it first).
# Why it matters: profilers and sanitizers that are preloaded rely on running first. Here calls and threads of other libraries'
# constructors come before the tool is ready, in just those programs that have such a library, too.
#
# Expected, the order of the constructors of two libraries of the program, one of them with `-z initfirst`:
#   nothing preloaded: first usual main
#   a library preloaded: first usual preloaded main
#   preloaded with -z initfirst, as the only one: preloaded usual main
#   preloaded with -z initfirst, as the second one: first usual preloaded main
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}"
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"

cat >library.c <<'END'
#include <unistd.h>
__attribute__((constructor)) static void start(void) {
    if (write(1, NAME " ", sizeof NAME) < 0) _exit(1);
}
void function_of(void) {}
END
cat >program.c <<'END'
#include <unistd.h>
void first(void), usual(void);
int main(void) {
    usual();
    if (FIRST) first();
    return write(1, "main", 4) != 4;
}
END
library() { # name, file, option...
    compile -shared -fPIC -DNAME="\"$1\"" -Dfunction_of="$1" "${@:3}" library.c -o "$2"
}
library usual libusual.so
library first libfirst.so -Wl,-z,initfirst
library preloaded preloaded.so
library preloaded preloaded_first.so -Wl,-z,initfirst
compile -DFIRST=0 program.c -o with_one -lusual
compile -DFIRST=1 program.c -o with_two -lusual -lfirst

expect "nothing preloaded" "first usual main" "$(./with_two)"
expect "a library preloaded" "first usual preloaded main" "$(LD_PRELOAD=$FOLDER/preloaded.so ./with_two)"
expect "preloaded with -z initfirst, as the only one" "preloaded usual main" "$(LD_PRELOAD=$FOLDER/preloaded_first.so ./with_one)"
expect "preloaded with -z initfirst, as the second one" "first usual preloaded main" \
    "$(LD_PRELOAD=$FOLDER/preloaded_first.so ./with_two)"
