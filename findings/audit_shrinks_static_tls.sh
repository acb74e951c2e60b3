#!/bin/bash
# An auditor (LD_AUDIT) that does nothing keeps programs from starting. The dynamic linker lays out the first thread's thread-local
# storage before it loads an auditor, which may need some. Only then does it load the program's libraries, so the thread-local variables
# of all of them together, fixed at the start as they are (initial-exec), have to go into a surplus of some 1.6 KB that is meant for
# dlopen(). Without an auditor there is no such limit. GLIBC_TUNABLES=glibc.rtld.optional_static_tls=BYTES enlarges the surplus.
#
# Version: glibc 2.36 (elf/rtld.c, elf/dl-tls.c; sourceware bug 31991).
# Why it matters: allocators, sanitizers' runtimes and profilers keep kilobytes there, linked or preloaded. The message blames the
# library, and leaving the auditor away is no remedy for those whose tool is an auditor; the tunable is.
#
# Expected, of a program with a library that has 1 KB, 4 KB or 1 MB of such variables:
#   without an auditor: 1 KB starts, 4 KB starts, 1 MB starts
#   with one: 1 KB starts, 4 KB: cannot allocate memory in static TLS block, 1 MB: cannot allocate memory in static TLS block
#   with one and the tunable at 8192: 1 KB starts, 4 KB starts, 1 MB: cannot allocate memory in static TLS block
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}"
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"

echo 'unsigned la_version(unsigned version) { return version; }' >auditor.c
echo '__thread char variables[SIZE] __attribute__((tls_model("initial-exec"))); char *where(void) { return variables; }' >library.c
echo 'char *where(void); int main(void) { return where() == 0; }' >program.c
compile -shared -fPIC -nostdlib auditor.c -o auditor.so
for size in 1 4 1024; do
    compile -shared -fPIC -DSIZE=$((size * 1024)) library.c -o libwith_$size.so
    compile program.c -o with_$size -lwith_$size
done

try() { # size, name; in the environment of the caller
    local said
    if said=$("./with_$1" 2>&1); then echo "$2 starts"; else echo "$2: ${said##*: }"; fi
}
all() {
    echo "$(try 1 "1 KB"), $(try 4 "4 KB"), $(try 1024 "1 MB")"
}
none="cannot allocate memory in static TLS block"
expect "without an auditor" "1 KB starts, 4 KB starts, 1 MB starts" "$(all)"
export LD_AUDIT=$FOLDER/auditor.so
with=$(all)
with_tunable=$(GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192 all)
unset LD_AUDIT
expect "with one" "1 KB starts, 4 KB: $none, 1 MB: $none" "$with"
expect "with one and the tunable at 8192" "1 KB starts, 4 KB starts, 1 MB: $none" "$with_tunable"
