#!/bin/bash
# What uftrace says a function returned depends on whether it records the function's arguments. A result of floating point is read
# from xmm0 when the function has returned, but by then uftrace's own code may have gone through that register: the arguments, which it
# writes out first, are copied with it. So a function is said to return its own first argument, or, if that is an integer, a number next
# to 0. The program gets the right result, and with `-R` alone it is recorded rightly.
#
# Version: uftrace 0.13 as Debian 12 builds it, any program with functions that return double (upstream issue 1631).
# Why it matters: the values look reasonable, and the recording itself is wrong: no reader of the data can tell. Do not compare results
# of floating point in such recordings, and do not take them for keys.
#
# Expected: sum(2.5, 1.0) and scaled(1, 2.5), whose results are 12.5:
#   passed and returned: sum 12.5, scaled 12.5
#   with results only: sum 12.500000, scaled 12.500000
#   with arguments: sum 2.500000, scaled 0.000000
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}" uftrace=0.13-1 libcapstone4=4.0.2-5 libdw1=0.188-2.1 libelf1=0.188-2.1 libbz2-1.0=1.0.8-5+b1 \
    liblzma5=5.4.1-1+deb12u1 libncursesw6=6.4-4 libtinfo6=6.4-4
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"

cat >program.c <<'END'
#include <stdio.h>
__attribute__((noinline)) double sum(double a, double b) { return 10 * b + a; }
__attribute__((noinline)) double scaled(int a, double b) { return 10 * a + b; }
int main(void) {
    printf("sum %g, ", sum(2.5, 1.0));
    printf("scaled %g\n", scaled(1, 2.5));
    return 0;
}
END
compile -O2 -g -pg program.c -o program

record() { # option of uftrace...
    tool uftrace record "$@" --no-libcall --no-event --libmcount-path="$TOOLS/usr/lib/x86_64-linux-gnu/uftrace" -d data ./program
}
results() {
    tool uftrace replay -d data -f none --no-pager | sed -n 's/^ *\(sum\|scaled\)(.*) = \(.*\);$/\1 \2/p' | paste -s -d , | sed 's/,/, /g'
}

expect "passed and returned" "sum 12.5, scaled 12.5" "$(record -R '^(sum|scaled)$@retval/f64')"
expect "with results only" "sum 12.500000, scaled 12.500000" "$(results)"
rm -r data
expect "passed and returned, the arguments recorded, too" "sum 12.5, scaled 12.5" "$(record -a)"
expect "with arguments" "sum 2.500000, scaled 0.000000" "$(results)"
