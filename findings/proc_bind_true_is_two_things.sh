#!/bin/bash
# OMP_PROC_BIND=true binds the threads of the same program to other processors with GCC's OpenMP runtime than with LLVM's, if there are more
# places than threads: GCC's takes neighbouring places (close), LLVM's spreads the threads over all places (spread). OpenMP leaves it to the
# runtime where threads go with `true`. A comparison of compilers "with pinned threads" compares two placements. Only with `close`, or `spread`,
# written out, both do the same.
#
# Version: libgomp 12.2.0 and libomp 14.0.6 as Debian 12 builds them. The program is compiled once: libomp also serves programs that GCC
# has compiled, under the other library's name.
# Why it matters: `true` is what many guides recommend to keep threads from migrating.
#
# Expected: two threads, and four places {0},{0},{1},{1}; each thread's place:
#   libgomp, true: 0 1
#   libomp, true: 0 2
#   libgomp, close: 0 1
#   libomp, close: 0 1
#   libgomp, spread: 0 2
#   libomp, spread: 0 2
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}" libgomp1=12.2.0-14+deb12u1 libomp5-14=1:14.0.6-12
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"
mkdir gcc llvm
ln -s "$TOOLS"/usr/lib/x86_64-linux-gnu/libgomp.so.1.* gcc/libgomp.so.1
ln -s "$TOOLS"/usr/lib/llvm-14/lib/libomp.so.5 llvm/libgomp.so.1

cat >program.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void) {
    int places[2];
#pragma omp parallel num_threads(2)
    places[omp_get_thread_num()] = omp_get_place_num();
    printf("%d %d\n", places[0], places[1]);
    return 0;
}
END
compile -O2 -fopenmp program.c -o program

places() { # runtime, OMP_PROC_BIND
    LD_LIBRARY_PATH=$FOLDER/$1 OMP_DYNAMIC=false OMP_PLACES='{0},{0},{1},{1}' OMP_PROC_BIND=$2 ./program
}

expect "libgomp, true" "0 1" "$(places gcc true)"
expect "libomp, true" "0 2" "$(places llvm true)"
expect "libgomp, close" "0 1" "$(places gcc close)"
expect "libomp, close" "0 1" "$(places llvm close)"
expect "libgomp, spread" "0 2" "$(places gcc spread)"
expect "libomp, spread" "0 2" "$(places llvm spread)"
