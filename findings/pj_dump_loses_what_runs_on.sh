#!/bin/bash
# pj_dump prints the states of a Pajé trace, with `-s` and `-e` those of a stretch of it. But states are chosen by where they begin: from
# the last one of a thread that begins before the stretch to the first one that begins at its end or later. So what is around the
# stretch is lost, but for one state, and one that comes after the stretch is printed. A whole trace is such a stretch, too: of the states
# of a thread that begin at its last time, only the first is printed. There is no message, and the exit status is 0.
#
# Version: pajeng 1.3.6 (PajeContainer::enumeratorOfEntitiesTyped).
# Why it matters: pj_dump is how Pajé traces get into R, and what other readers are compared with. Sums over its output lose the long
# states first, and a trace that was cut (states that begin with its last event) has fewer states than events that begin some.
#
# Expected: a thread in `main` from 0 to 10, with `first` 1–2, `long` 3–8.5, in it `inner` 4–8, and `last` 9–9.5:
#   all: main first long inner last
#   from 5 to 7: inner last
#   from 9.6 to 9.9: last
#   three states that begin at the last time, 2: main a
set -euo pipefail
# shellcheck source=/dev/null
source "$(dirname "$0")/support"

unpack "$TOOLS" pajeng=1.3.6-3 libpaje2=1.3.6-3 libfl2=2.6.4-8.2
cd "$FOLDER"

cat >definitions <<'END'
%EventDef PajeDefineContainerType 0
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%       Alias string
%       Type string
%       Name string
%EndEventDef
%EventDef PajeCreateContainer 2
%       Time date
%       Alias string
%       Type string
%       Container string
%       Name string
%EndEventDef
%EventDef PajePushState 3
%       Time date
%       Type string
%       Container string
%       Value string
%EndEventDef
%EventDef PajePopState 4
%       Time date
%       Type string
%       Container string
%EndEventDef
0 T 0 Thread
1 S T State
2 0.0 t T 0 thread
3 0.0 S t main
END
trace() { # name, then what begins (TIME:STATE) and ends (TIME)
    local name=$1 each
    shift
    cp definitions "$name"
    for each; do
        case $each in
            *:*) echo "3 ${each%:*} S t ${each#*:}" ;;
            *) echo "4 $each S t" ;;
        esac
    done >>"$name"
}
states() { # argument of pj_dump...
    tool pj_dump "$@" | sed -n 's/^State, .*, //p' | paste -s -d ' '
}

trace nested 1.0:first 2.0 3.0:long 4.0:inner 8.0 8.5 9.0:last 9.5 10.0
trace cut 2.0:a 2.0:b 2.0:c

expect "all" "main first long inner last" "$(states nested)"
expect "from 5 to 7" "inner last" "$(states -s 5 -e 7 nested)"
expect "from 9.6 to 9.9" "last" "$(states -s 9.6 -e 9.9 nested)"
expect "three states that begin at the last time, 2" "main a" "$(states cut)"
