// Functions whose first instructions fail, and signal handlers that throw: behind an access to nothing,
// behind a division by zero, or behind each single instruction of some calls. With an argument the program
// ends there. -fnon-call-exceptions, C++14.
#include <ucontext.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct Zero : Fault {
    using Fault::Fault;
};
struct Stop {};
template <int N>
struct Numbered {};

int destroyed;
struct Guard {
    Guard() = default;
    Guard(const Guard&) = delete;
    Guard(Guard&&) = delete;
    Guard& operator=(const Guard&) = delete;
    Guard& operator=(Guard&&) = delete;
    ~Guard() { ++destroyed; }
};

}  // namespace

#define KEEP extern "C" __attribute__((noinline, noclone))

KEEP int plain(const int* p) {
    return *p;
}
KEEP int above(const int* p) {
    const Guard guard;
    return plain(p) + 1;
}
KEEP int cleans(const int* p) {
    const Guard guard;
    return *p;
}
KEEP int by_type(const int* p) {
    try {
        return *p;
    } catch (const Numbered<1>&) {
        return -1;
    } catch (const Zero&) {
        return -2;
    } catch (const Fault&) {
        return -3;
    } catch (const std::exception&) {
        return -4;
    }
}
KEEP int anything(const int* p) {
    try {
        return *p;
    } catch (...) {
        return -5;
    }
}
KEEP int divides(int a, int b) {
    try {
        return a / b;
    } catch (const Zero&) {
        return -6;
    }
}
KEEP int nested(const int* p) {
    try {
        try {
            return *p;
        } catch (const Zero&) {
            return -7;
        }
    } catch (const Fault& fault) {
        return -8 - static_cast<int>(std::strlen(fault.what()));
    }
}
KEEP int strict(const int* p) noexcept {
    return *p;
}
// NOLINTBEGIN(modernize-use-noexcept): these are what is tried.
KEEP int only(const int* p) throw(Fault) {
    return *p;
}
KEEP int only_others(const int* p) throw(Numbered<2>, std::logic_error) {
    return *p;
}
// NOLINTEND(modernize-use-noexcept)

KEEP long leaf(long x) {
    __asm__ volatile("" ::: "memory");
    return x * 3;
}
/// Has nothing to do with exceptions.
KEEP long counts(long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i)
        sum += leaf(i);
    return sum;
}

// stepped.S
extern "C" {
long run_stepped(long (*call)(long), long argument, long trap);
long calls(long x);
long calls_through(long (**call)(long));
long lands_within(const long* p);
extern volatile int stepped_enough;
}

namespace {

constexpr long kTrap = 0x100;
volatile long countdown;

void fail(int number, siginfo_t* /*info*/, void* /*context*/) {
    if (number == SIGFPE) throw Zero("zero");
    throw Fault("nothing");
}

void step(int /*number*/, siginfo_t* /*info*/, void* context) {
    if (stepped_enough != 0) static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrap;
    if (stepped_enough != 0 || --countdown > 0) return;
    throw Stop();
}

void on(int signal, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(signal, &action, nullptr);
}

int sum_of_faults() {
    static volatile int five = 5;
    static const long six = 6;
    // What may not leave a function becomes what may: the runtime looks into the landing table once more.
    std::set_unexpected([] { throw Numbered<2>(); });
    int sum = 0;
    for (int i = 0; i < 300; ++i) {
        const int* const p = i % 3 == 0 ? nullptr : const_cast<const int*>(&five);
        for (const auto function : {plain, above, cleans, only}) {
            try {
                sum += function(p);
            } catch (const Fault&) {
                sum -= 100;
            }
        }
        try {
            sum += only_others(p);
        } catch (const Numbered<2>&) {
            sum -= 7;
        }
        sum += by_type(p) + anything(p) + nested(p) + divides(i, i % 2);
        sum += static_cast<int>(lands_within(p != nullptr ? &six : nullptr));
    }
    return sum;
}

/// Ends a call behind each of its instructions.
void step_through(const char* name, long expected, long (*call)(long), long argument) {
    long inside = 0;
    long outside = 0;
    long other = 0;
    for (long steps = 1;; ++steps) {
        // Whatever an exception has left in disorder is mended before the next one.
        if (run_stepped(call, argument, 0) != expected) ++other;
        countdown = steps;
        const long result = run_stepped(call, argument, kTrap);
        if (result == expected) break;
        ++(result == -1 ? inside : result == -99 ? outside : other);
    }
    std::printf("%s: %s inside, %s outside, %ld elsewhere\n", name, inside > 0 ? "some" : "none",
                outside > 0 ? "some" : "none", other);
    std::fprintf(stderr, "%s: %ld inside, %ld outside\n", name, inside, outside);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string end = argc > 1 ? argv[1] : "";
    on(SIGSEGV, fail);
    on(SIGFPE, fail);
    on(SIGTRAP, step);
    std::set_terminate([] {
        std::puts("terminated");
        std::fflush(stdout);
        std::_Exit(3);
    });
    if (end == "strict") return strict(nullptr);
    if (end == "unexpected") return only_others(nullptr);
    if (end == "uncaught") return plain(nullptr);
    if (end == "stepped") {
        static long (*leaf_pointer)(long) = leaf;
        static const long three = 3;
        const auto through = reinterpret_cast<long>(&leaf_pointer);
        step_through("calls", 16, calls, 5);
        step_through(
            "calls_through", leaf(through) + 1,
            [](long pointer) { return calls_through(reinterpret_cast<long (**)(long)>(pointer)); }, through);
        step_through("counts", 9, counts, 3);
        step_through(
            "lands_within", leaf(1),
            [](long pointer) { return lands_within(reinterpret_cast<long*>(pointer)); },
            reinterpret_cast<long>(&three));
        return 0;
    }
    const int sum = sum_of_faults();
    std::printf("%d, %d destroyed\n", sum, destroyed);
    return 0;
}
