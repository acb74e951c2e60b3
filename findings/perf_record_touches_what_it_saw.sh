#!/bin/bash
# `perf record` changes the files that it has seen samples in. When it ends, it puts each executable and library into a cache of its
# own, ~/.debug, and where it may, and file systems allow, it does so by a hard link: that costs nothing, but the file has one more
# link, and its time of change (ctime) is now. Content and time of modification stay. Without the right to link it copies the file.
# `-N -B` (--no-buildid-cache, --no-buildid) leaves the files alone.
#
# Version: perf 6.1.192 (tools/perf/util/build-id.c, build_id_cache__add).
# Why it matters: backups, package verification, `make` with ctime, and caches that trust a file's identity take what was profiled for
# changed: all libraries, if root profiles the whole machine. And a file that is written in place afterwards changes in the cache, too.
#
# Expected, of a program's own copy that is profiled by its owner:
#   with -N -B: the same ctime, 1 link
#   without: another ctime, 2 links
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" linux-perf=6.1.192-2 libdw1=0.188-2.1 libelf1=0.188-2.1 libbabeltrace1=1.5.11-1+b2 libbz2-1.0=1.0.8-5+b1 \
    libcap2=1:2.66-4+deb12u3+b1 libcrypt1=1:4.4.33-2 libexpat1=2.5.0-1+deb12u2 libglib2.0-0=2.74.6-2+deb12u9 liblzma5=5.4.1-1+deb12u1 \
    libnuma1=2.0.16-1 libopencsd1=1.3.3-1 libpcre2-8-0=10.42-1 libperl5.36=5.36.0-7+deb12u3 libpython3.11=3.11.2-6+deb12u8 \
    libslang2=2.3.3-3 libunwind8=1.6.2-3 libuuid1=2.38.1-5+deb12u3
cd "$FOLDER"

# A program that is busy for half a second, on the file system of perf's cache.
cp "$(command -v gzip)" busy
head -c 30000000 /dev/urandom >noise
profile() { # option...
    HOME=$FOLDER tool perf record -q -e cpu-clock -o "$FOLDER/perf.data" "$@" -- ./busy -c noise >/dev/null
}
seen() { # the ctime before
    local now same
    now=$(stat -c %Z busy)
    same="the same"
    [[ $now == "$1" ]] || same="another"
    echo "$same ctime, $(stat -c %h busy) link$([[ $(stat -c %h busy) == 1 ]] || echo s)"
}
before=$(stat -c %Z busy)
sleep 1.1 # a ctime of another second
profile -N -B
expect "with -N -B" "the same ctime, 1 link" "$(seen "$before")"
profile
expect "without" "another ctime, 2 links" "$(seen "$before")"
