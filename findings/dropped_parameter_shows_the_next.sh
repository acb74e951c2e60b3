#!/bin/bash
# clang removes a parameter that a local function does not use, and moves the others up: the second argument is passed in the first
# register. The function keeps its name, and clang 14's debug information keeps the whole prototype and says nothing of the move (clang
# 19 marks such functions with DW_CC_nocall). The removed parameter only lacks a location. uftrace puts it where the convention would:
# it shows `local(2, 2, 3)` for local(101, 2, 3), and each value looks as good as the others. A function that others may call keeps its
# convention, but callers in its own file do not pass what it does not read: its register holds whatever stood there, shown as a value.
#
# Version: clang 14.0.6 with -O2 -g, uftrace 0.13 with -a (arguments from debug information).
# Why it matters: "no location" does not mean "where the convention says", it means "not passed". A prototype alone proves nothing: only
# locations at the entry, of all parameters, show that none was dropped before those that are read.
#
# Expected: what the program passes, what uftrace says, and how many conventions the debug information names:
#   passed: local(101, 2, 3) = 23, global(101, 2, 3) = 23
#   uftrace: local(2, 2, 3) = 23, global(something else, 2, 3) = 23
#   conventions in the debug information: 0
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}" clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libbsd0=0.11.7-2 libmd0=1.0.4-2 \
    libedit2=3.1-20221030-2 libffi8=3.4.4-1 libicu72=72.1-3+deb12u1 liblzma5=5.4.1-1+deb12u1 libtinfo6=6.4-4 \
    libxml2=2.9.14+dfsg-1.3~deb12u6 libz3-4=4.8.12-3.1 uftrace=0.13-1 libcapstone4=4.0.2-5 libdw1=0.188-2.1 libelf1=0.188-2.1 \
    libbz2-1.0=1.0.8-5+b1 libncursesw6=6.4-4
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"

cat >program.c <<'END'
int printf(const char* format, ...);
__attribute__((noinline)) static long local(long unused, long a, long b) { return 10 * a + b; }
__attribute__((noinline)) long global(long unused, long a, long b) { return 10 * a + b; }
int main(int argc, char** argv) {
    (void)argv;
    const long passed = argc + 100, a = argc + 1, b = argc + 2;
    printf("local(%ld, %ld, %ld) = %ld, ", passed, a, b, local(passed, a, b));
    printf("global(%ld, %ld, %ld) = %ld\n", passed, a, b, global(passed, a, b));
    return 0;
}
END
tool clang-14 -O2 -g -pg -c program.c -o program.o
compile -pg program.o -o program

passed=$(tool uftrace record -a --no-libcall --no-event --libmcount-path="$TOOLS/usr/lib/x86_64-linux-gnu/uftrace" -d data ./program)
tool uftrace replay -d data -f none --no-pager >replayed
shown() { # function
    sed -n "s/^ *\($1(.*\);$/\1/p" replayed
}
local_call=$(shown local)
global_call=$(shown global)
[[ $global_call == "global(101, "* ]] || global_call="global(something else, ${global_call#*, }"

expect "passed" "local(101, 2, 3) = 23, global(101, 2, 3) = 23" "$passed"
expect "uftrace" "local(2, 2, 3) = 23, global(something else, 2, 3) = 23" "$local_call, $global_call"
expect "conventions in the debug information" 0 "$(tool objdump --dwarf=info program | grep -c DW_AT_calling_convention || true)"
