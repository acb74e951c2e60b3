// Calls through nothing, of which the handler of a signal throws an exception; it interrupts the moved call itself.
import core.stdc.signal, core.stdc.stdio, core.sys.posix.signal;

class Fault : Exception {
    this() { super("nothing"); }
}

class Other : Exception {
    this() { super("other"); }
}

alias Call = void function();
__gshared int sum, cleaned;

extern (C) void handler(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, null);
    throw new Fault;
}

extern (C) void three() { sum += 3; }

pragma(inline, false) extern (C) void by_type(Call* call) {
    try {
        (*call)();
    } catch (Other other) {
        sum -= 2;
    } catch (Fault fault) {
        sum -= 1;
    }
}

pragma(inline, false) extern (C) void cleans(Call* call) {
    scope (exit) ++cleaned;
    (*call)();
}

void main() {
    sigaction_t action;
    action.sa_handler = cast(typeof(action.sa_handler)) &handler;
    sigaction(SIGSEGV, &action, null);
    Call good = cast(Call) &three;
    int caught;
    foreach (i; 0 .. 300) {
        Call* call = i % 3 == 0 ? null : &good;
        by_type(call);
        try {
            cleans(call);
        } catch (Fault fault) {
            ++caught;
        }
    }
    printf("300 %d %d %d\n", sum, cleaned, caught);
}
