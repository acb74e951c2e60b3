#!/bin/bash
# Where gcc makes a copy of a function for the callers that it knows (.constprop, .isra), debug information lists the copy's parameters
# in an order of its own: first those that are still passed, then those that are not, the last of these first. gdb 13.1 shows them in
# that order, under the plain name of the function: its backtrace has `by_value (factor=5, shift=9, unused=7, p=0x7ff…)` for a function
# that is declared as by_value(p, unused, factor, shift). The values are right, since each has a location or a call site that says it.
#
# Version: gcc 12.2 with -O2 -g (binutils 2.40 reads what it wrote).
# Why it matters: in a copy, the position of a parameter in debug information tells neither its position in the source nor its register:
# `factor`, the third parameter of by_value, comes first there and is passed in rdi. Names and locations tell. A tool that counts shows
# the value of one parameter under the name of another one, or looks into a register in which nothing was passed.
#
# Expected, of two functions that are declared as (p, unused, factor, shift), of which the second reads nothing through p:
#   by_pointer: p unused factor shift
#   by_value: p unused factor shift
#   by_pointer.constprop.0: p factor shift unused
#   by_value.constprop.0: factor shift unused p
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}"
cd "$FOLDER"

cat >functions.c <<'END'
struct point { long x, y; };
#define APART static __attribute__((noinline)) long
__attribute__((noinline)) void here(void) { __asm__ volatile("" ::: "memory"); }
APART by_pointer(const struct point* p, long unused, long factor, int shift) {
    here();
    return factor * 10 + shift + p->y;
}
APART by_value(const struct point* p, long unused, long factor, int shift) {
    here();
    return factor * 10 + shift;
}
long callers(int n) {
    const struct point p = {n, 2};
    long sum = by_pointer(&p, 7, n + 4, n + 8) + by_pointer(&p, 8, n + 5, n + 9);
    return sum + by_value(&p, 7, n + 4, n + 8) + by_value(&p, 8, n + 5, n + 9);
}
END
tool gcc-12 -O2 -g -fPIC -shared -nostdlib functions.c -o functions.so

# Each function, or copy with the address of its code, and the names of the parameters in the order of the debug information.
tool objdump --dwarf=info functions.so | awk '
    function finish() { if (names != "") print (address == "" ? "declared" : address), name ":" names; name = names = address = "" }
    function named(line) {
        gsub(/[<>]|0x/, "", line)
        return line
    }
    /DW_TAG_/ { tag = $NF; die = $1; sub(/.*></, "", die); sub(/>:.*/, "", die) }
    /DW_TAG_subprogram/ { finish() }
    /DW_AT_low_pc/ && tag ~ /subprogram/ { address = named($NF) }
    /DW_AT_name/ { known[die] = $NF }
    /DW_AT_name|DW_AT_abstract_origin/ {
        word = /DW_AT_name/ ? $NF : known[named($NF)]
        if (tag ~ /subprogram/) name = word
        if (tag ~ /formal_parameter/ && name != "") names = names " " word
    }
    END { finish() }' >parameters
tool nm functions.so >symbols

for function in by_pointer by_value; do
    expect "$function" "p unused factor shift" "$(sed -n "s/^declared $function: //p" parameters)"
done
copy() { # function, as it was
    local address
    address=$(sed -n "s/^0*\([0-9a-f]*\) t $1\.constprop\.0$/\1/p" symbols)
    expect "$1.constprop.0" "$2" "$(sed -n "s/^${address:-none} $1: //p" parameters)"
}
copy by_pointer "p factor shift unused"
copy by_value "factor shift unused p"
