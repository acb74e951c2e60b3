#!/bin/bash
# With as many threads as processors, threads that wait at a barrier of GCC's OpenMP runtime look 300,000 times whether it is over before they
# sleep (GOMP_SPINCOUNT), some milliseconds: on a machine where anything else runs, they burn their own turn, and a barrier waits until the
# kernel takes the others' processor away. With one thread more than there are processors they look 100 times only. So on the same two
# processors, each of which has a busy loop besides, barriers of three threads are hundreds of times faster than barriers of two.
#
# Version: libgomp 12.2.0 as Debian 12 builds it.
# (Later versions look once on hybrid processors.)
# Why it matters: whoever compares numbers of threads on a machine that is not quiet finds that too many are better than as many as there are
# processors, and takes the runtime's way to wait for the program's scaling.
#
# Expected, on two processors beside a busy loop on each, of 300 barriers: with two threads their waits sleep less than 100 times, with three
# more than 300 times; with two and OMP_WAIT_POLICY=passive at least 200 times. Times are printed, not expected.
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" "${GCC_12[@]}" libgomp1=12.2.0-14+deb12u1
unpack "$GLIBC" "${GLIBC_2_36[@]}"
cd "$FOLDER"

cat >program.c <<'END'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(int argc, char** argv) {
    struct rusage before, after;
    double begin = 0, end = 0;
#pragma omp parallel num_threads(argc > 1 ? atoi(argv[1]) : 1)
    {
#pragma omp single
        {
            getrusage(RUSAGE_SELF, &before);
            begin = omp_get_wtime();
        }
        for (int i = 0; i < 300; ++i) {
#pragma omp barrier
        }
#pragma omp single
        {
            end = omp_get_wtime();
            getrusage(RUSAGE_SELF, &after);
        }
    }
    fprintf(stderr, "%s threads: %.1f us a barrier, slept %ld times\n", argv[1], (end - begin) / 300 * 1e6, after.ru_nvcsw - before.ru_nvcsw);
    printf("%ld\n", after.ru_nvcsw - before.ru_nvcsw);
    return 0;
}
END
compile -O2 -fopenmp program.c -o program

mapfile -t processors < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | head -n 2)
[ "${#processors[@]}" = 2 ] || changed "two processors are needed; there is one"
for processor in "${processors[@]}"; do
    taskset -c "$processor" sh -c 'while :; do :; done' &
done
trap 'kill $(jobs -p); rm -rf "$FOLDER"' EXIT

slept() { # threads
    LD_LIBRARY_PATH="$(dirname "$(find "$TOOLS" -name 'libgomp.so.1' | head -n 1)")" taskset -c "$(IFS=,; echo "${processors[*]}")" ./program "$1"
}

expect "two threads sleep less than 100 times" yes "$([ "$(slept 2)" -lt 100 ] && echo yes)"
expect "three threads sleep more than 300 times" yes "$([ "$(slept 3)" -gt 300 ] && echo yes)"
expect "two that are told to wait passively sleep" yes "$([ "$(OMP_WAIT_POLICY=passive slept 2)" -ge 200 ] && echo yes)"
