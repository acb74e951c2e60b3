// The recorder's life in a process: start before the program's constructors, a second start in a fork child,
// the end.
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "libprobe/agent/adoption.h"
#include "libprobe/agent/agent_link.h"
#include "libprobe/agent/births.h"
#include "libprobe/agent/inheritance.h"
#include "libprobe/agent/request.h"
#include "libprobe/base/filter.h"
#include "libprobe/base/loaded_object.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/settled.h"
#include "libprobe/base/sys.h"
#include "libprobe/code/gates.h"
#include "libprobe/code/patch.h"
#include "libprobe/event/budget.h"
#include "libprobe/event/call_counts.h"
#include "libprobe/event/chunk_pool.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/counter.h"
#include "libprobe/event/packing.h"
#include "libprobe/event/regions.h"
#include "libprobe/event/sandbox.h"
#include "libprobe/event/slow.h"
#include "libprobe/event/stacks.h"
#include "libprobe/start/children.h"
#include "libprobe/start/cost.h"
#include "libprobe/start/late_objects.h"
#include "libprobe/start/threads.h"

extern "C" {
// glibc's pthread_atfork() is linked into its callers, with start-up files that librdam.so has none of.
// Weak: a program of another C library (musl) must start as if this one were not there.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): glibc's name.
__attribute__((weak)) int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                            void* object);

/// Where the kernel has put the number of arguments; behind it are they and the environment.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): glibc's name.
extern __attribute__((weak)) void* __libc_stack_end;

constinit __attribute__((visibility("hidden"))) rdam::probe::Guard rdam_guard = {};
constinit __attribute__((visibility("hidden"))) __thread rdam::probe::ThreadState rdam_thread;
}

namespace rdam::probe {

constinit Globals globals;
constinit OwnCopies own_copies;

namespace {

constexpr std::uint32_t kFirstPlan = 0;

/// RDAM_STRICT is the pid of the process that `rdam record` starts. It is for that process's first program
/// only: wiped out here, so that what it starts or turns into runs whether or not it has a function of the
/// list.
bool take_strict(char** environment) {
    const auto variable = environment_variable(environment, "RDAM_STRICT");
    char own[21];
    put_number(own, sys::getpid());
    const bool strict = variable.found && variable.value == std::string_view{own};
    for (const char& digit : variable.value)
        const_cast<char&>(digit) = '0';
    return strict;
}

/// A relative RDAM_OUTPUT means the folder in which the run began, wherever its processes go: the variable
/// becomes absolute for whatever the program executes, and for the agents of fork children. Where there is no
/// current folder, or no room for its name, it stays as it is, and the agent refuses it.
void settle_output(char** environment) {
    constexpr std::string_view kDefault = "trace.bin";
    constexpr std::size_t kMaxPath = 4096;
    static char settled[kOutputVariable.size() + 2 * kMaxPath];
    std::string_view value = environment_variable(environment, "RDAM_OUTPUT").value;
    if (value.empty()) value = kDefault;
    if (value[0] == '/' || value.size() >= kMaxPath) return;
    char* const path = settled + kOutputVariable.size();
    const long folder = sys::call(SYS_getcwd, sys::word(path), kMaxPath);
    if (folder <= 1 || path[0] != '/') return;
    copy_bytes(settled, kOutputVariable.data(), kOutputVariable.size());
    std::size_t used = static_cast<std::size_t>(folder) - 1;  // the \0 is counted
    if (path[used - 1] != '/') path[used++] = '/';
    copy_bytes(path + used, value.data(), value.size());
    path[used + value.size()] = '\0';
    globals.settings.output = settled;
    for (char** entry = environment; *entry != nullptr; ++entry)
        if (std::string_view{*entry, text_size(*entry)}.starts_with(kOutputVariable)) *entry = settled;
}

/// RDAM_CHILDREN=0 becomes this for whatever the first recorded program starts or turns into.
constexpr char kIsChild = '-';

bool is_unwanted_child(char** environment) {
    const auto children = environment_variable(environment, "RDAM_CHILDREN").value;
    return children.size() == 1 && children[0] == kIsChild;
}

void disown_children(char** environment) {
    if (globals.settings.values[settings::Id::children] != 0) return;
    for (const char& digit : environment_variable(environment, "RDAM_CHILDREN").value)
        const_cast<char&>(digit) = kIsChild;
}

/// RDAM_CLOCK, or what this machine's counter is good for.
void choose_clock() {
    constexpr const settings::Setting& kClock = settings::setting(settings::Id::clock);
    if (environment_variable(globals.settings.environment, kClock.variable).value.empty() &&
        !counter_is_steady()) {
        globals.settings.clock = shm::Clock::monotonic;
        Line line;
        (line << "the kernel does not trust this machine's time-stamp counter: using the monotonic clock, "
                 "which takes a system call per timestamp")
            .print();
        return;
    }
    find_clock(settings::choice(kClock.choices, globals.settings.values[kClock.id]), globals.settings.clock);
}

/// False: the environment says something that cannot be; it has been printed.
bool read_settings(char** environment) {
    Settings& own = globals.settings;
    own.environment = environment;
    own.has_stderr = sys::call(SYS_fcntl, 2, 1 /* F_GETFD */) >= 0;
    own.strict = take_strict(environment) ? 1 : 0;
    for (const settings::Setting& each : settings::kTable) {
        const std::string_view value = environment_variable(environment, each.variable).value;
        own.values[each.id] = settings::unset_value(each);
        if (value.empty() || settings::parse(each, value, own.values[each.id])) continue;
        Line line;
        ((line << each.variable << "='").quote(value) << "' is not " << each.right << unrecorded_fate())
            .print();
        return false;
    }
    if (own.values[settings::Id::all_calls] != 0) own.values[settings::Id::max_overhead] = 0;
    choose_clock();
    return true;
}

template <typename Function>
void past_wrapper(Function*& function) {
    for (std::uint32_t i = 0; i < globals.functions; ++i)
        if (globals.addresses[i] == reinterpret_cast<std::uint64_t>(function) &&
            rdam_functions[i].resume != nullptr) {
            function = reinterpret_cast<Function*>(rdam_functions[i].resume);
            return;
        }
}

/// What a thread knows of its process is its parent's after fork: the chunk is not even mapped.
void forget_parent(ThreadState& thread) {
    park(thread);
    thread.slot = nullptr;
    thread.own = {};
    thread.ended = false;
    thread.end_rounds = 0;
    forget_place(thread);
    forget_lent_stacks();
    thread.vfork_cursor = 0;
    thread.vfork_alone = false;
    thread.lent = false;
    thread.tid = 0;
    thread.clockless = false;
    thread.stacks.clear();
    forget_counter(thread);
    release_pairs(thread);
    zero_bytes(thread.pairs, sizeof thread.pairs);
}

/// In a child of a raw clone, which libc knows nothing of: another thread than the one that was cloned may be
/// the first to call something. Of the parent's other threads there is nothing but their memory, if it is
/// still there.
void forget_parents_threads(const shm::Control* parents) {
    if (parents == nullptr) return;
    for (std::uint32_t i = 0; i < shm::kMaxThreads; ++i) {
        ThreadState* const thread = own_copies.states[i].exchange(nullptr);
        if (thread == nullptr) continue;
        const shm::ThreadSlot* slot = nullptr;
        const auto at = reinterpret_cast<std::uint64_t>(&thread->slot);
        if (read_memory(&slot, at, sizeof slot) == sizeof slot && slot == &parents->threads[i])
            forget_parent(*thread);
    }
}

/// Memory of the child's own in place of what it does not share with its parent, and where a probe may still
/// write or look that was interrupted by a handler in which the thread was forked.
void replace_parents_memory(const ThreadState& thread) {
    const std::uint64_t control = reinterpret_cast<std::uint64_t>(globals.control);
    if (control == 0) return;
    // Behind a filter it is inherited: this thread is not under that. What stays is the page by which it may
    // ask for an agent.
    if (own_copies.opened.exchange(0) != 0)
        for_all_but_births(control, shm::kChunksOffset + std::uint64_t{own_copies.chunks} * shm::kChunkSize,
                           [](std::uint64_t begin, std::uint64_t size) {
                               sys::call(SYS_munmap, static_cast<long>(begin), static_cast<long>(size));
                           });
    const auto put = [](std::uint64_t place, std::uint64_t size) {
        sys::mmap(place, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    };
    put(control, shm::kBirthsOffset);
    if (thread.own.chunk != shm::kNone && thread.slot != nullptr)
        put(reinterpret_cast<std::uint64_t>(&header_of(thread.own.chunk)), shm::kChunkSize);
}

/// In the parent, behind fork: the child is under its filter and can have no agent.
void count_child() {
    if (is_filtered() && rdam_guard.active()) globals.control->filtered_forks.add(1);
}

/// In the thread that was forked. The recorder may be started by another one, which cannot reach this one's
/// data. The child's budget is its own, and a function whose gate stays closed would never wake the recorder.
void begin_child() {
    forget_callers();
    // What a handler has interrupted goes on with what it knows. It writes to its parent's memory, which a
    // child under a filter has for this (sandbox.cpp).
    const bool interrupted = is_filtered() && rdam_filtering.busy != 0;
    const sys::BlockSignals blocked;
    if (!is_filtered()) replace_parents_memory(rdam_thread);
    if (!interrupted) forget_parent(rdam_thread);
    forget_open_table();
    forget_budget();
    forget_parents_gates();
    forget_calls(rdam_thread);
}

/// What the recorder itself calls of libc must not be counted as the program's calls.
void past_wrappers() {
    past_wrapper(globals.set_specific);
    past_wrapper(globals.get_stack);
    past_wrapper(globals.set_stack_size);
    past_wrapper(globals.get_stack_size);
    past_wrapper(globals.init_attributes);
}

void tell_measured() {
    globals.control->measured = globals.measured;
    globals.control->measured_check = shm::check_of(&globals.measured, sizeof globals.measured, 0);
}

/// With the agent connected: patches (the first time), measures and begins to record.
void begin_recording() {
    ThreadState& thread = rdam_thread;
    const OpenTable table;
    if (!table.writable()) return;
    const bool first = !globals.patched;
    if (first) {
        const PlanCopy plan(kFirstPlan);
        if (!plan.whole()) return;
        choose_counting(thread);
        const PatchResult result = apply_plan(plan.area(), plan.reply());
        if (!result.none_took()) plan.print_wrapped();
        report(result);
        plan.keep_knowledge();
        past_wrappers();
        watch_libraries();
        watch_children();
        __register_atfork(nullptr, count_child, begin_child, nullptr);
        globals.patched = true;
    }
    close_shared_areas(*globals.control);
    sys::call(SYS_madvise, sys::word(&rdam_guard), sizeof rdam_guard, MADV_WIPEONFORK);
    tell_call_counters();
    globals.ticks_per_second = globals.control->ticks_per_second;
    if (!begin_thread(thread, read_clock())) return;
    lend_stack(thread);
    tell_counting();
    // A fork child runs the same probes on the same machine as its parent, which has measured them.
    if (first && !know_cost()) measure_cost(thread);
    thread.dropped = 0;
    thread.slot->dropped.store(0);
    // What has been called since the gates are there is not of the recording; a fork child's first call is.
    if (first) forget_calls(thread);
    thread.own.start = read_clock();
    tell_begin(thread);
    tell_measured();
    globals.control->process_state.store(shm::ProcessState::running);
    rdam_guard.activate();
}

bool is_filtered_by_kernel() {
    return sys::call(SYS_prctl, PR_GET_SECCOMP) > 0;
}

bool prepare(int argc, char** argv, char** environment) {
    globals.filtered_start = is_filtered_by_kernel();
    find_tid_offset();
    if (!read_settings(environment) || !keep_environment(environment, globals.settings.output) ||
        !gather_request(argc, argv))
        return false;
    prepare_threads();
    return connect_agent(false);
}

/// Another C library's start and threads are not known: not even whether `start` has arguments.
bool is_other_libc() {
    if (&__register_atfork != nullptr) return false;
    globals.settings.has_stderr = sys::call(SYS_fcntl, 2, 1 /* F_GETFD */) >= 0;
    Line line;
    (line << "process " << sys::getpid()
          << " has another C library than glibc (such as musl): it is not recorded")
        .print();
    return true;
}

constinit bool has_started = false;

__attribute__((constructor)) void start(int argc, char** argv, char** environment) {
    if (has_started) return;
    has_started = true;
    rdam_guard.initialised.store(kSettled);
    watch_contexts();
    if (is_other_libc()) return;
    prepare_find_object();
    watch_adoption();
    if (is_unwanted_child(environment)) return;
    settle_output(environment);
    if (!prepare(argc, argv, environment)) {
        if (globals.settings.strict != 0) sys::call(SYS_exit_group, 1);
        return;
    }
    disown_children(environment);
    const sys::BlockSignals blocked;
    watch_stack(rdam_thread, first_stack(environment));
    begin_recording();
}

/// The program may have unmapped it, or mapped something else over it. The kernel looks without a signal.
bool shared_memory_is_there() {
    constexpr std::uint32_t kNobodysState = 0xfffffffe;
    const long timeout[2] = {0, 1000000};
    // By the kernel itself: whether the agent has seen a filter stands in that memory.
    if (sys::kernel(SYS_futex, sys::word(&globals.control->agent_futex), FUTEX_WAIT, kNobodysState,
                    sys::word(timeout)) == -EFAULT)
        return false;
    return globals.control->magic == shm::kMagic && globals.control->pid == sys::getpid();
}

__attribute__((destructor)) void end() {
    if (globals.control == nullptr || !rdam_guard.active()) return;
    // The agent knows by itself when the process ends.
    if (rdam_thread.clockless) return rdam_guard.deactivate();
    // Under a filter nobody can say. A program that unmaps what is not its own crashes at its next event,
    // too.
    if (!is_filtered() && !shared_memory_is_there()) {
        rdam_guard.deactivate();
        Line line;
        (line << "the program unmapped the recorder's memory, or mapped its own over it: events not written "
                 "by then are lost; it must not change mappings that it did not create")
            .print();
        return;
    }
    {
        const sys::BlockSignals blocked;
        rdam_guard.deactivate();
        if (blocked.nested()) return;
        own_copies.ended = read_clock();
        globals.control->ended.store(own_copies.ended);
        end_thread(rdam_thread);
        publish_others();
    }
    wait_for_agent_end();
}

/// By a child of a raw clone the thread's data has not been forgotten yet.
bool start_as_first() {
    // No handler has run in a child that libc knows nothing of: what it has are its parent's numbers.
    if (rdam_thread.slot != nullptr) forget_calls(rdam_thread);
    forget_callers();
    forget_parents_threads(globals.control);
    forget_parent(rdam_thread);
    forget_sandbox();
    globals.control = nullptr;
    globals.settings.strict = 0;  // it runs already
    if (globals.settings.values[settings::Id::children] == 0 || !globals.patched || !connect_agent(true) ||
        !adopt_gates())
        return false;
    forget_open_table();
    forget_region_lock();
    forget_packers();
    copy_regions();
    begin_recording();
    return rdam_guard.active();
}

}  // namespace

void start_before_threads() {
    if (has_started || &__libc_stack_end == nullptr || __libc_stack_end == nullptr) return;
    auto* const argc = static_cast<std::uint64_t*>(__libc_stack_end);
    auto** const argv = reinterpret_cast<char**>(argc + 1);
    start(static_cast<int>(*argc), argv, argv + *argc + 1);
}

bool start_in_fork_child() {
    std::uint32_t expected = 0;
    if (is_filtered()) {
        rdam_guard.initialised.store(kSettled);
        return false;
    }
    if (!rdam_guard.initialised.compare_exchange_strong(expected, 2 * sys::gettid())) return false;
    const bool started = start_as_first();
    rdam_guard.initialised.store(kSettled);
    constexpr int kAll = 0x7fffffff;
    sys::futex_wake(&rdam_guard.initialised, kAll);
    return started;
}

bool await_start() {
    // Not forever: the starting thread calls into libc, which may need a lock that this one holds.
    constexpr int kMaxWaits = 100;
    constexpr long kMilliseconds = 100;
    for (int i = 0; i < kMaxWaits; ++i) {
        const std::uint32_t state = rdam_guard.initialised.load();
        if (state == kSettled || state == 2 * sys::gettid()) break;
        sys::futex_wait(&rdam_guard.initialised, state, kMilliseconds);
    }
    return rdam_guard.active();
}

}  // namespace rdam::probe
