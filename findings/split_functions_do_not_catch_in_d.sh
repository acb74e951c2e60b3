#!/bin/bash
# The table by which a function catches exceptions (language-specific data, .gcc_except_table) may begin with an address, LPStart; where it
# is left out, it is the function's start. Landing pads count from LPStart, call sites from the function's start in any case. The
# personality routine of ldc's D (scanLSDA in rt/dwarfeh.d) does it otherwise: it counts call sites from LPStart as well, and from the
# function's start on top of that, and landing pads from the function's start. So no call site matches, and an exception passes by:
# nothing is caught, no finally, scope(exit) or destructor runs, and the message is that of an exception that nobody catches.
# ldc2 itself writes such tables where LLVM puts blocks of a function into sections of their own.
# C++'s routine (__gxx_personality_v0) reads the same tables as they are meant, and so does gdc's (tried by hand).
#
# Version: ldc 1.30.0; clang 14.0.6 with libstdc++ 12.2. Here LPStart is absolute, as LLVM writes it for programs at a fixed address; for
# others it is relative to its own place, a form that D's routine knows for types only: the exception ends the program.
# Why it matters: to D's routine, a table with an LPStart is none. Whoever writes tables for code that was moved or split leaves LPStart
# out, and counts landing pads from the start that the frame description names, in a signed form (sdata4) if some are before it.
#
# Expected, of a function that leaves a scope by an exception and catches it. "with LPStart": as it was compiled, but the table says that
# landing pads count from 16 bytes before the function, and has 16 added to each: the same places. "in sections": as LLVM splits it.
#   LPStart (0: absolute, 255: left out): D 255 0 0, C++ 255 0 0
#   D: left caught ended, status 0
#   D with LPStart: object.Exception@program.d(2): thrown, status 1
#   D in sections: object.Exception@program.d(2): thrown, status 1
#   C++: left caught ended, status 0
#   C++ with LPStart: left caught ended, status 0
#   C++ in sections: left caught ended, status 0
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}" ldc=1:1.30.0-1+b1 libphobos2-ldc-shared-dev=1:1.30.0-1+b1 clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 \
    libllvm14=1:14.0.6-12 libbsd0=0.11.7-2 libmd0=1.0.4-2 libedit2=3.1-20221030-2 libffi8=3.4.4-1 libicu72=72.1-3+deb12u1 \
    liblzma5=5.4.1-1+deb12u2 libtinfo6=6.4-4 libxml2=2.9.14+dfsg-1.3~deb12u6 libz3-4=4.8.12-3.1
unpack "$GLIBC" "${GLIBC_2_36[@]}" libphobos2-ldc-shared100=1:1.30.0-1+b1 libstdc++6=12.2.0-14+deb12u1 zlib1g=1:1.2.13.dfsg-1
cd "$FOLDER"

cat >program.d <<'EOF'
extern (C) int puts(const char*);
pragma(inline, false) void work(int n) { if (n > 0) throw new Exception("thrown"); }
extern (C) void guarded(int n) {
    try {
        scope (exit) puts("left");
        work(n);
    } catch (Exception e) puts("caught");
}
void main(string[] arguments) {
    guarded(cast(int) arguments.length);
    puts("ended");
}
EOF
cat >program.cpp <<'EOF'
extern "C" int puts(const char*);
struct Scope { ~Scope() { puts("left"); } };
__attribute__((noinline)) void work(int n) { if (n > 0) throw n; }
__attribute__((noinline)) void guarded(int n) {
    try {
        Scope scope;
        work(n);
    } catch (int) { puts("caught"); }
}
int main(int argc, char**) {
    guarded(argc);
    puts("ended");
}
EOF
d() { # argument...
    tool ldc2 -conf= -I"$TOOLS/usr/lib/ldc/x86_64-linux-gnu/include/d" -I"$TOOLS/usr/include/d" -O1 --relocation-model=static -output-s \
        program.d "$@"
}
cpp() { # argument...
    tool clang-14 -O1 -fno-pic -fno-addrsig -S program.cpp "$@"
}
# Gives the table in a program's assembly its LPStart. Of a call site's four numbers, the third is the landing pad; a byte 0 is none.
give_start() {
    awk '
        /^\.Lexception/ { number = $1; gsub(/[^0-9]/, "", number); at_start = 1 }
        at_start && $1 == ".byte" { print "\t.byte 0\n\t.quad .Lfunc_begin" number " - 16"; at_start = 0; next }
        /^\.Lcst_end/ { in_sites = 0 }
        in_sites && ++numbers % 4 == 3 && $1 == ".uleb128" { print "\t.uleb128 " $2 " + 16"; next }
        /^\.Lcst_begin/ { in_sites = 1 }
        { print }'
}
d -of=d.s
give_start <d.s >d_start.s
d --basic-block-sections=all -of=d_split.s
cpp -o c.s
give_start <c.s >c_start.s
cpp -fbasic-block-sections=all -o c_split.s

starts() { # name
    awk '/^\.Lexception/ { getline; print $2; nextfile }' "$1.s" "$1_start.s" "$1_split.s" | paste -s -d ' '
}
outcome() { # name
    local status=0
    compile -no-pie -Wl,--disable-new-dtags,-rpath,"$GLIBC/usr/lib/x86_64-linux-gnu" "$1.s" -o "$1" \
        -l:libdruntime-ldc-shared.so.100 -l:libstdc++.so.6
    "./$1" >words 2>message || status=$?
    echo "$(cat words <(head -n 1 message) | paste -s -d ' '), status $status"
}
expect "LPStart (0: absolute, 255: left out)" "D 255 0 0, C++ 255 0 0" "D $(starts d), C++ $(starts c)"
expect "D" "left caught ended, status 0" "$(outcome d)"
expect "D with LPStart" "object.Exception@program.d(2): thrown, status 1" "$(outcome d_start)"
expect "D in sections" "object.Exception@program.d(2): thrown, status 1" "$(outcome d_split)"
expect "C++" "left caught ended, status 0" "$(outcome c)"
expect "C++ with LPStart" "left caught ended, status 0" "$(outcome c_start)"
expect "C++ in sections" "left caught ended, status 0" "$(outcome c_split)"
