#!/bin/bash
# `perf probe` with a parameter's name can record something else than what was passed, without a warning. Two things meet:
# - gcc keeps a parameter that is assigned to at once in two places at the function's first instruction: the argument's register for no
#   byte of code at all, and then where the *assigned* value is. (Location views number what happens at one address; readers that look
#   for a range around the address find only the later place.) perf takes that one: the register of another parameter.
# - Where the parameter's new value has no register, gcc gives an expression that computes it (DW_OP_stack_value). perf 6.1 drops that
#   last operation and takes the result for an address: the probe reads memory at a number that is no pointer.
# gdb 13 shows what was passed: it knows ranges of no byte, and what the caller says of its arguments.
#
# Version: gcc 12.2 with -O2 -g, perf 6.1.176 with libdw 0.188.
# Why it matters: whoever reads arguments at a function's entry (probes, profilers, tracers by uprobe) has to take the first range that
# begins at the entry, even if it is empty, and nothing but plain registers; or to count arguments by the calling convention.
#
# Expected: what perf would have the kernel read (without the types), of parameters that are passed in rdi and rsi:
#   unchanged: a=%di b=%si
#   assigned: a=%si b=%si
#   counted: s=%di n=-1(%si)
#   negated: a=+0(%di)
#   gcc's places of a in assigned: rdi for 0 bytes, rsi for the next ones
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}" linux-perf=6.1.176-1 libdw1=0.188-2.1 libelf1=0.188-2.1 libbabeltrace1=1.5.11-1+b2 libbz2-1.0=1.0.8-5+b1 \
    libcap2=1:2.66-4+deb12u3+b1 libcrypt1=1:4.4.33-2 libexpat1=2.5.0-1+deb12u2 libglib2.0-0=2.74.6-2+deb12u9 liblzma5=5.4.1-1+deb12u1 \
    libnuma1=2.0.16-1 libopencsd1=1.3.3-1 libpcre2-8-0=10.42-1 libperl5.36=5.36.0-7+deb12u3 libpython3.11=3.11.2-6+deb12u8 \
    libslang2=2.3.3-3 libunwind8=1.6.2-3 libuuid1=2.38.1-5+deb12u3
cd "$FOLDER"

cat >functions.c <<'END'
long use(long x);
long unchanged(long a, long b) {
    return use(a) + use(b) + a;
}
long assigned(long a, long b) {
    a = b;
    while (a > 3) a = use(a);
    return a;
}
long counted(const char* s, long n) {
    long colons = 0;
    while (n--)
        if (*s++ == ':') colons++;
    return colons;
}
long negated(long a) {
    a = -a;
    return use(a) + a;
}
END
tool gcc-12 -O2 -g -fPIC -shared -nostdlib functions.c -o functions.so

probe() { # function, parameter...
    expect "$1" "$2" "$(tool perf probe -x functions.so -D "$1 ${*:3}" 2>/dev/null | cut -d ' ' -f 3- | sed 's/:[sux]64//g')"
}
probe unchanged "a=%di b=%si" a b
probe assigned "a=%si b=%si" a b
probe counted "s=%di n=-1(%si)" s n
probe negated "a=+0(%di)" a

entry=$(tool objdump -t functions.so | sed -n 's/^\([0-9a-f]*\) .* assigned$/\1/p')
tool objdump --dwarf=loc functions.so | grep "^ *$entry " >places
expect "gcc's places of a in assigned" "rdi for 0 bytes, rsi for the next ones" \
    "$(awk -v entry="$entry" '$2 == entry && /rdi/ {print "rdi for 0 bytes"}' places), $(awk -v entry="$entry" \
        '$2 != entry && /rsi/ {print "rsi for the next ones"}' places | head -n 1)"
