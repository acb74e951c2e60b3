#include "tools/agent/sampling/window_sampler.h"

#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include "tools/agent/processors/priorities.h"

namespace rdam::agent {
namespace {

/// Windows are written so many at a time; what a killed agent had not written is lost.
constexpr std::size_t kTogether = 50;

}  // namespace

WindowSampler::WindowSampler(const SharedMemory& shared, const TickRate& rate, double share)
    : shared_(shared),
      rate_(rate),
      ticks_per_ns_(rate.result() * 1e-9),
      schedule_(share, rate.start_tsc() ^ shared.start().pid),
      opened_(rate.start_tsc()) {
    // The thread has the priority of the one that makes it: now an ordinary one.
    if (shared.start().max_overhead() != 0) start();
}

WindowSampler::~WindowSampler() {
    stop();
}

void WindowSampler::add_marked(trace::TraceInfo& info, const FunctionNumbers& numbers) {
    bool any = false;
    {
        const std::lock_guard guard(mutex_);
        for (std::uint32_t number = 0; number < numbers.end(); ++number) {
            const std::uint32_t index = numbers.function(number);
            if (index >= info.functions.size()) continue;
            trace::FunctionInfo& function = info.functions[index];
            if ((!function.sampled && function.windowed_since == 0) || has(number)) continue;
            if (function.windowed_since == 0) function.windowed_since = rate_.start_tsc();
            add_function(number);
            any = true;
        }
    }
    if (any) start();
}

std::uint64_t WindowSampler::add(std::uint32_t number) {
    std::uint64_t since = 0;
    {
        const std::lock_guard guard(mutex_);
        // What is recorded from here on is not complete, and it is not before.
        since = rate_.now();
        // No window is needed for what was complete.
        if (functions_.empty()) opened_ = since;
        add_function(number);
    }
    start();
    return since;
}

void WindowSampler::forget(std::uint32_t number) {
    const std::lock_guard guard(mutex_);
    for (const Function& function : functions_)
        if (function.number == number) forgotten_calls_ += calls_of(function);
    std::erase_if(functions_, [&](const Function& function) { return function.number == number; });
    shared_.gate(number).store(shm::kGateOpen);
}

bool WindowSampler::has(std::uint32_t number) const {
    return std::ranges::any_of(functions_,
                               [&](const Function& function) { return function.number == number; });
}

/// Recorded since it is sampled.
std::uint64_t WindowSampler::calls_of(const Function& function) const {
    return shared_.control().calls[function.number].load(std::memory_order_relaxed) - function.calls_before;
}

void WindowSampler::add_function(std::uint32_t number) {
    functions_.push_back({number, shared_.control().calls[number].load(std::memory_order_relaxed)});
    shared_.gate(number).store(open_ ? shm::kGateOpen : 0);
}

void WindowSampler::start() {
    wake_.notify_one();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // The gates stay open: everything is recorded, and in one window.
    }
}

void WindowSampler::stop() {
    {
        const std::lock_guard guard(mutex_);
        ending_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void WindowSampler::run() {
    constexpr unsigned long kSlackNs = 1000;
    prctl(PR_SET_TIMERSLACK, kSlackNs, 0, 0, 0);
    const auto after = [](double ns) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::nano>(ns));
    };
    ask_for_short_turns();
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return ending_; };
    // What waits for the file must not find the gates closed when it goes on.
    wake_.wait(lock, [this] { return ending_ || (has_file_ && !functions_.empty()); });
    started_ = rate_.now();
    double length = WindowSchedule::kFirst;
    for (;;) {
        if (wake_.wait_until(lock, Clock::now() + after(length), ended)) return;
        close_window();
        const double elapsed = static_cast<double>(rate_.now() - started_) / ticks_per_ns_;
        const auto next =
            schedule_.next(elapsed, static_cast<double>(open_ticks_) / ticks_per_ns_, cost_ns());
        if (wake_.wait_until(lock, Clock::now() + after(next.gap), ended)) return;
        open_window();
        length = next.length;
    }
}

void WindowSampler::set_gates(std::uint8_t open) const {
    for (const Function& function : functions_)
        shared_.gate(function.number).store(open, std::memory_order_relaxed);
}

/// What is known to lie in the window was called when all gates were open.
void WindowSampler::open_window() {
    set_gates(shm::kGateOpen);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    opened_ = rate_.now();
    open_ = true;
}

void WindowSampler::close_window() {
    const std::uint64_t now = rate_.now();
    set_gates(0);
    open_ = false;
    open_ticks_ += now - std::max(opened_, started_);
    windows_.push_back({opened_, now});
}

double WindowSampler::cost_ns() const {
    std::uint64_t calls = forgotten_calls_;
    for (const Function& function : functions_)
        calls += calls_of(function);
    constexpr double kScale = 1.0 / 16;
    return static_cast<double>(calls) * static_cast<double>(shared_.measured().probe_ticks_x16) * kScale /
           ticks_per_ns_;
}

void WindowSampler::write(trace::TraceWriter* writer) {
    if (writer == nullptr) return;
    std::vector<trace::Window> windows;
    {
        const std::lock_guard guard(mutex_);
        if (!std::exchange(has_file_, true)) wake_.notify_one();
        if (windows_.size() < kTogether && !ending_) return;
        windows = std::exchange(windows_, {});
    }
    trace::WindowsEncoder encoder;
    for (const trace::Window& window : windows) {
        encoder.add(window);
        // What does not fit into the file is lost, and its calls are not scored.
        if (encoder.full()) static_cast<void>(writer->append_windows(encoder));
    }
    static_cast<void>(writer->append_windows(encoder));
}

void WindowSampler::finish(trace::TraceWriter* writer) {
    stop();
    if (!functions_.empty() && open_) close_window();
    write(writer);
}

}  // namespace rdam::agent
