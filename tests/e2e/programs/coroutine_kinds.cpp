// Calls on the stacks of a coroutine library, which the program measures itself: `step` sleeps, gives way,
// and sleeps again. Each call's duration is printed, in nanoseconds. The library is chosen by a macro:
//
//   ST, PTH, PCL             State Threads, GNU Pth, the Portable Coroutine Library
//   COROUTINE2, SUSPEND      Boost.Coroutine2, oneTBB's tbb::task::suspend
//   SIGALTSTACK, UCONTEXT    QEMU's two ways of making a stack, and sigsetjmp and siglongjmp to change to
//   another ACO                      a switch written by hand that keeps the floating-point control words, as
//   libaco's
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

enum { FIBERS = 6, CALLS = 12 };

void give_way();

long now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

void rest(long milliseconds) {
    const timespec time{0, milliseconds * 1000000L};
    nanosleep(&time, nullptr);
}

long durations[FIBERS * CALLS];
std::atomic<int> done;

}  // namespace

extern "C" __attribute__((noinline)) long step(long number) {
    rest(1 + number % 3);
    give_way();
    rest(1);
    if (number % 4 == 0) give_way();
    return number;
}

namespace {

void run(long fiber) {
    for (long i = 0; i < CALLS; ++i) {
        const long begin = now_ns();
        step(i + fiber);
        const long lasted = now_ns() - begin;
        durations[done++] = lasted;
    }
}

void print_durations() {
    for (const long each : durations)
        std::printf("%ld\n", each);
}

}  // namespace

#if defined ST
#include <st.h>
namespace {
void give_way() {
    st_sleep(0);
}
void* start(void* fiber) {
    run(reinterpret_cast<long>(fiber));
    return nullptr;
}
}  // namespace
int main() {
    st_init();
    st_thread_t threads[FIBERS];
    for (long i = 0; i < FIBERS; ++i)
        threads[i] = st_thread_create(start, reinterpret_cast<void*>(i), 1, 0);
    for (st_thread_t& thread : threads)
        st_thread_join(thread, nullptr);
    print_durations();
}

#elif defined PTH
#include <pth.h>
namespace {
void give_way() {
    pth_yield(nullptr);
}
void* start(void* fiber) {
    run(reinterpret_cast<long>(fiber));
    return nullptr;
}
}  // namespace
int main() {
    pth_init();
    pth_t threads[FIBERS];
    for (long i = 0; i < FIBERS; ++i)
        threads[i] = pth_spawn(PTH_ATTR_DEFAULT, start, reinterpret_cast<void*>(i));
    for (pth_t& thread : threads)
        pth_join(thread, nullptr);
    print_durations();
    std::fflush(stdout);
    pth_exit(nullptr);
}

#elif defined PCL
#include <pcl.h>
namespace {
void give_way() {
    co_resume();
}
void start(void* fiber) {
    run(reinterpret_cast<long>(fiber));
    for (;;)
        co_resume();
}
}  // namespace
int main() {
    co_thread_init();
    coroutine_t all[FIBERS];
    for (long i = 0; i < FIBERS; ++i)
        all[i] = co_create(start, reinterpret_cast<void*>(i), nullptr, 1 << 16);
    while (done < FIBERS * CALLS)
        for (coroutine_t& each : all)
            co_call(each);
    print_durations();
}

#elif defined COROUTINE2
#include <boost/coroutine2/all.hpp>
#include <memory>
#include <vector>
namespace {
using Coroutine = boost::coroutines2::coroutine<int>;
Coroutine::push_type* now;
void give_way() {
    Coroutine::push_type* const own = now;
    (*own)(0);
    now = own;
}
}  // namespace
int main() {
    std::vector<std::unique_ptr<Coroutine::pull_type>> all;
    for (long i = 0; i < FIBERS; ++i)
        all.push_back(std::make_unique<Coroutine::pull_type>([i](Coroutine::push_type& own) {
            now = &own;
            give_way();
            run(i);
        }));
    for (bool any = true; any;) {
        any = false;
        for (const auto& each : all) {
            if (!*each) continue;
            (*each)();
            any = true;
        }
    }
    print_durations();
}

#elif defined SUSPEND
#define TBB_PREVIEW_RESUMABLE_TASKS 1
#include <tbb/global_control.h>
#include <tbb/task.h>
#include <tbb/task_group.h>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>
namespace {
std::mutex lock;
std::vector<tbb::task::suspend_point> suspended;
void give_way() {
    tbb::task::suspend([](tbb::task::suspend_point point) {
        const std::lock_guard<std::mutex> guard(lock);
        suspended.push_back(point);
    });
}
}  // namespace
// A task that was suspended on the stack of one thread goes on there in another.
int main() {
    const tbb::global_control three(tbb::global_control::max_allowed_parallelism, 3);
    std::thread resumer([] {
        while (done < FIBERS * CALLS) {
            rest(2);
            std::vector<tbb::task::suspend_point> points;
            {
                const std::lock_guard<std::mutex> guard(lock);
                std::swap(points, suspended);
            }
            for (const tbb::task::suspend_point point : points)
                tbb::task::resume(point);
        }
    });
    tbb::task_group group;
    for (long i = 0; i < FIBERS; ++i)
        group.run([i] { run(i); });
    group.wait();
    resumer.join();
    print_durations();
}

#elif defined ACO
#include <sys/mman.h>
extern "C" void change(void** from, void* to);
__asm__(
    ".text\n.globl change\n.type change,@function\nchange:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n sub $8,%rsp\n"
    " fnstcw (%rsp)\n stmxcsr 4(%rsp)\n mov %rsp,(%rdi)\n mov %rsi,%rsp\n fldcw (%rsp)\n ldmxcsr 4(%rsp)\n"
    " add $8,%rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n pop %rcx\n jmp *%rcx\n"
    ".size change,.-change\n");
namespace {
void* main_stack;
void* stacks[FIBERS];
bool over[FIBERS];
long now;
void give_way() {
    change(&stacks[now], main_stack);
}
void start() {
    const long own = now;
    run(own);
    over[own] = true;
    for (;;)
        give_way();
}
}  // namespace
int main() {
    constexpr unsigned long kSize = 1 << 16, kControlWords = 0x00001f800000037f;
    for (void*& stack : stacks) {
        auto* const memory = static_cast<char*>(
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        auto* top = reinterpret_cast<unsigned long*>(memory + kSize - 64);
        *--top = 0;
        *--top = reinterpret_cast<unsigned long>(start);
        top -= 7;
        *top = kControlWords;
        stack = top;
    }
    while (done < FIBERS * CALLS)
        for (now = 0; now < FIBERS; ++now)
            if (!over[now]) change(&main_stack, stacks[now]);
    print_durations();
}

#elif defined SIGALTSTACK || defined UCONTEXT
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
namespace {
struct Fiber {
    sigjmp_buf own, caller;
    long number;
    bool over;
};
Fiber fibers[FIBERS];
Fiber* now;
constexpr int kStack = 1 << 18;

void give_way() {
    if (sigsetjmp(now->own, 0) == 0) siglongjmp(now->caller, 1);
}
void enter(Fiber& fiber) {
    now = &fiber;
    if (sigsetjmp(fiber.caller, 0) == 0) siglongjmp(fiber.own, 1);
}
__attribute__((noinline)) void start() {
    Fiber& own = *now;
    if (sigsetjmp(own.own, 0) == 0) siglongjmp(own.caller, 1);
    run(own.number);
    own.over = true;
    siglongjmp(own.caller, 1);
}
#ifdef UCONTEXT
void make(Fiber& fiber) {
    static ucontext_t old;
    static ucontext_t fresh;
    now = &fiber;
    getcontext(&fresh);
    fresh.uc_link = &old;
    fresh.uc_stack.ss_sp = std::malloc(kStack);
    fresh.uc_stack.ss_size = kStack;
    makecontext(&fresh, start, 0);
    if (sigsetjmp(fiber.caller, 0) == 0) swapcontext(&old, &fresh);
}
#else
// The handler leaves its stack with the place where it can be entered again, outside of any signal.
void handler(int) {
    if (sigsetjmp(now->own, 0) != 0) start();
}
void make(Fiber& fiber) {
    stack_t stack{};
    stack.ss_sp = std::malloc(kStack);
    stack.ss_size = kStack;
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, nullptr);
    now = &fiber;
    raise(SIGUSR2);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
    enter(fiber);
}
#endif
}  // namespace
int main() {
    for (long i = 0; i < FIBERS; ++i) {
        fibers[i].number = i;
        make(fibers[i]);
    }
    while (done < FIBERS * CALLS)
        for (Fiber& fiber : fibers)
            if (!fiber.over) enter(fiber);
    print_durations();
}
#endif
