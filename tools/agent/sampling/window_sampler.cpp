#include "tools/agent/sampling/window_sampler.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "libprobe/format/starter.h"
#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/process/priorities.h"
#include "tools/agent/sampling/window_keeper.h"

namespace rdam::agent {
namespace {

/// Windows are written so many at a time; what a killed agent had not written is lost.
constexpr std::uint32_t kTogether = 50;

/// What the process that keeps the windows needs is memory.
void give_up_rights() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct none[2] = {};
    syscall(SYS_capset, &header, none);
}

}  // namespace

WindowSampler::WindowSampler(const SharedMemory& shared, const TickRate& rate,
                             std::function<void(pid_t)> made)
    : shared_(shared), rate_(rate), made_(std::move(made)) {
    if (shared.start().max_overhead() != 0) start();
}

WindowSampler::~WindowSampler() {
    stop();
}

void WindowSampler::add_functions(trace::TraceInfo& info, const FunctionNumbers& numbers) {
    bool any = false;
    {
        const std::lock_guard guard(exchange_.mutex);
        for (std::uint32_t number = 0; number < numbers.end(); ++number) {
            const std::uint32_t index = numbers.function(number);
            if (index >= info.functions.size()) continue;
            trace::FunctionInfo& function = info.functions[index];
            std::uint8_t& group = exchange_.groups[number];
            if (function.partner)
                group = kNoWindows;
            else if (function.waits || function.busy_waits)
                group = kWaitingGroup;
            else if (function.window_group != 0)
                group = static_cast<std::uint8_t>(function.window_group);
            else if (group == 0)
                group = last_group_ = static_cast<std::uint8_t>(1 + last_group_ % trace::kMaxWindowGroup);
            if (!function.sampled && function.windowed_since == 0) continue;
            if (function.windowed_since == 0) function.windowed_since = rate_.start_tsc();
            function.window_group = group != kNoWindows ? group : 0;
            exchange_.marked[number] = 1;
            any = true;
        }
        ++exchange_.changes;
    }
    if (any) {
        needed_.store(true);
        start();
    }
}

void WindowSampler::describe(trace::TraceInfo& info, const FunctionNumbers& numbers) {
    const shm::Control& control = shared_.control();
    const std::uint32_t seen = control.windowed_futex.load();
    if (seen == described_) return;
    described_ = seen;
    const std::lock_guard guard(exchange_.mutex);
    for (std::uint32_t number = 0; number < numbers.end(); ++number) {
        const std::uint32_t index = numbers.function(number);
        if (index >= info.functions.size() || info.functions[index].windowed_since != 0) continue;
        info.functions[index].windowed_since = windowed_since(control, number);
        if (info.functions[index].windowed_since != 0)
            info.functions[index].window_group =
                exchange_.groups[number] != kNoWindows ? exchange_.groups[number] : 0;
    }
}

void WindowSampler::forget(std::uint32_t number) {
    const std::lock_guard guard(exchange_.mutex);
    exchange_.groups[number] = 0;
    exchange_.marked[number] = 0;
    ++exchange_.changes;
    shared_.control().windowed_since[number].store(0);
    shared_.gate(number).store(shm::kGateOpen);
}

void WindowSampler::start() {
    wake();
    if (thread_.joinable()) return;
    try {
        // It has the priority of the one that makes it: now an ordinary one.
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // Marked functions' gates stay open, and no window is known. Others are not recorded any more from
        // when they are found too hot.
    }
}

void WindowSampler::wake() {
    futex_wake(&shared_.control().windowed_futex, 1);
}

void WindowSampler::stop() {
    exchange_.ending.store(1);
    futex_wake(&exchange_.ending, 1);
    wake();
    if (thread_.joinable()) thread_.join();
}

/// Until a function is sampled; false: the recording is over.
bool WindowSampler::await_need() {
    // The process wakes us, unless it is under a filter.
    constexpr int kLookMilliseconds = 100;
    const std::atomic<std::uint32_t>& windowed = shared_.control().windowed_futex;
    while (exchange_.ending.load() == 0) {
        if (needed_.load() || windowed.load() != 0) return true;
        futex_wait(windowed, 0, kLookMilliseconds);
    }
    return false;
}

/// The thread that makes the process waits for it, as with vfork, because the two share thread-local storage.
void WindowSampler::run() {
    constexpr std::size_t kStackSize = 256 << 10;
    constexpr unsigned long kSlackNs = 1000;
    struct Child {
        WindowKeeper keeper;
        pid_t agent;
    } child{WindowKeeper{shared_, rate_, exchange_}, getpid()};
    const auto main = [](void* argument) {
        setsid();
        // Nothing that the agent has open is held by this process: neither locks nor counters.
        close_range(0, ~0U, 0);
        give_up_rights();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_TIMERSLACK, kSlackNs, 0, 0, 0);
        ask_for_short_turns();
        auto& self = *static_cast<Child*>(argument);
        if (getppid() == self.agent) self.keeper.run();
        return 0;
    };
    if (!await_need()) return;
    // From its first moment on.
    prctl(PR_SET_NAME, agent_process::kWindowsTitle);
    const auto stack = std::make_unique<std::byte[]>(kStackSize);
    const pid_t pid = clone(main, stack.get() + kStackSize, CLONE_VM | SIGCHLD, &child);
    if (pid < 0) {
        prctl(PR_SET_TIMERSLACK, kSlackNs, 0, 0, 0);
        ask_for_short_turns();
        return child.keeper.run();
    }
    made_(pid);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
}

void WindowSampler::write(trace::TraceWriter* writer) {
    if (writer == nullptr) return;
    if (exchange_.has_file == 0) {
        const std::lock_guard guard(exchange_.mutex);
        exchange_.has_file = 1;
        wake();
    }
    std::uint32_t head = exchange_.head.load();
    const std::uint32_t tail = exchange_.tail.load();
    if (tail - head < kTogether && exchange_.ending.load() == 0) return;
    trace::WindowsEncoder encoder;
    for (; head != tail; ++head) {
        encoder.add(exchange_.windows[head % WindowExchange::kWindows]);
        // What does not fit into the file is lost, and its calls are not scored.
        if (encoder.full()) static_cast<void>(writer->append_windows(encoder));
    }
    exchange_.head.store(head);
    static_cast<void>(writer->append_windows(encoder));
}

void WindowSampler::finish(trace::TraceWriter* writer) {
    stop();
    write(writer);
}

double WindowSampler::used_seconds() const {
    constexpr double kNanosecond = 1e-9;
    return static_cast<double>(exchange_.used_ns.load()) * kNanosecond;
}

}  // namespace rdam::agent
