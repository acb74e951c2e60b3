#!/bin/bash
# A function whose implementation a resolver chooses (STT_GNU_IFUNC) looks like one function that is chosen once. It is not: glibc asks
# the resolver once for each object that calls the function, and once more at each dlsym(), and keeps each answer for that caller only.
# A resolver whose answers differ (by a counter, or by the processor on which it happens to run) gives one name several
# implementations in one process, and pointers to the function that differ.
#
# Version: glibc 2.36 (elf_ifunc_invoke in each relocation, _dl_sym in each dlsym).
# Why it matters: a tool that looks for "the" implementation has to ask as well, which is one more call that the program can notice,
# and the answer need not be what the program got. Breakpoints and probes on one implementation miss the calls of the others.
#
# Expected, each answer being the number of the implementation, in the order in which the resolver was asked:
#   lazy binding: program 1, library 2, dlsym 3, dlsym again 4, the library again 2
#   LD_BIND_NOW: program 2, library 1, dlsym 3, dlsym again 4, the library again 1
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}"
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"

cat >library.c <<'END'
static int one(void) { return 1; }
static int two(void) { return 2; }
static int three(void) { return 3; }
static int four(void) { return 4; }
static int later(void) { return 5; }
static int (*choose(void))(void) {
    static int asked;
    int (*const implementations[])(void) = {one, two, three, four, later};
    return implementations[asked < 4 ? asked++ : 4];
}
int chosen(void) __attribute__((ifunc("choose")));
int from_library(void) { return chosen(); }
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int chosen(void), from_library(void);
static int by_name(void) {
    int (*function)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "chosen");
    return function();
}
int main(void) {
    printf("program %d", chosen());
    printf(", library %d", from_library());
    printf(", dlsym %d", by_name());
    printf(", dlsym again %d", by_name());
    printf(", the library again %d\n", from_library());
    return 0;
}
END
compile -O1 -shared -fPIC library.c -o liblibrary.so
compile -O1 program.c -o program -llibrary -Wl,-z,lazy

expect "lazy binding" "program 1, library 2, dlsym 3, dlsym again 4, the library again 2" "$(./program)"
expect "LD_BIND_NOW" "program 2, library 1, dlsym 3, dlsym again 4, the library again 1" "$(LD_BIND_NOW=1 ./program)"
