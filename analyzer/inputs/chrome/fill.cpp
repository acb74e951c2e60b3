#include "analyzer/inputs/chrome/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/inputs/chrome/functions.h"
#include "analyzer/inputs/chrome/order.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::chrome {
namespace {

constexpr std::int64_t kPerNanosecond = 1000;  // picoseconds

/// What the times of all threads have in common.
struct Times {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    std::int64_t step = Decimal::kParts;  ///< the largest power of ten that divides all, 1 µs at most

    void take(std::int64_t time) {
        first = std::min(first, time);
        last = std::max(last, time);
        constexpr std::int64_t kTen = 10;
        while (time % step != 0)
            step /= kTen;
    }
};

/// From picoseconds since the origin to ticks: nanoseconds where these are exact, otherwise picoseconds. They
/// are the file's own times where these fit.
class Scale {
  public:
    Scale(const Times& times, const Decimal& origin)
        : per_tick_(times.step >= kPerNanosecond ? kPerNanosecond : 1), step_(times.step / per_tick_) {
        constexpr long double kMost = 4e18L;
        const std::int64_t ticks_per_microsecond = Decimal::kParts / per_tick_;
        const std::int64_t first_tick = times.first / per_tick_, last_tick = times.last / per_tick_;
        const auto start =
            static_cast<long double>(origin.whole) * static_cast<long double>(ticks_per_microsecond);
        const long double first = start + static_cast<long double>(first_tick);
        const long double last = start + static_cast<long double>(last_tick);
        const bool fit = first >= 0 && last < kMost;
        shift_ = fit ? origin.whole * (Decimal::kParts / per_tick_) : -(times.first / per_tick_);
    }
    std::uint64_t operator()(std::int64_t time) const {
        return static_cast<std::uint64_t>(time / per_tick_ + shift_);
    }
    double per_second() const { return 1e12 / static_cast<double>(per_tick_); }
    std::uint64_t step() const { return static_cast<std::uint64_t>(step_); }

  private:
    std::int64_t per_tick_;
    std::int64_t step_;
    std::int64_t shift_ = 0;
};

/// Writes the calls of one thread, nested.
class Emitter {
  public:
    Emitter(Functions& functions, const Scale& scale, bool is_own, ThreadBuilder& out)
        : functions_(functions), scale_(scale), is_own_(is_own), out_(out) {}

    void call(const Call& call) {
        while (!open_.empty() && is_over(open_.back(), call))
            close();
        // Where a call was not seen to end, those around it cannot be trusted either.
        if (unseen_) forget();
        Call inner = call;
        if (!open_.empty() && inner.end > open_.back().end) {
            inner.end = open_.back().end;
            if (inner.ends) ++overlapping_;
        }
        out_.enter(scale_(inner.begin), functions_.number(inner), functions_.enter_words(inner));
        open_.push_back(inner);
    }
    void end() {
        while (!open_.empty())
            close();
    }
    std::uint64_t overlapping() const { return overlapping_; }

  private:
    /// rdam writes a call after those inside it: one that was written first is inside though it only begins
    /// where the other ends.
    bool is_over(const Call& open, const Call& next) const {
        if (open.end != next.begin) return open.end < next.begin;
        return !is_own_ || next.order > open.order;
    }
    void close() {
        const Call call = open_.back();
        open_.pop_back();
        if (!call.ends) {
            unseen_ = true;
            return;
        }
        const std::uint64_t at = scale_(call.end);
        const auto words = functions_.leave_words(call.function, call.values);
        if (unseen_)
            out_.leave_function(at, functions_.number(call), words);
        else
            out_.leave(at, words);
        unseen_ = false;
    }
    void forget() {
        out_.gap();
        open_.clear();
        unseen_ = false;
    }

    Functions& functions_;
    const Scale& scale_;
    bool is_own_;
    ThreadBuilder& out_;
    std::vector<Call> open_;
    bool unseen_ = false;  // calls that are still open in `out_` have been closed here
    std::uint64_t overlapping_ = 0;
};

Times times_of(const Collected& collected) {
    Times times;
    for (const Thread& thread : collected.threads) {
        for (const Call& call : thread.calls) {
            times.take(call.begin);
            times.take(call.end);
        }
        for (const Absence& each : thread.absences) {
            times.take(each.out);
            times.take(each.in);
        }
        if (thread.start < thread.end) {
            times.take(thread.start * kPerNanosecond);
            times.take(thread.end * kPerNanosecond);
        }
    }
    return times;
}

std::string thread_name(const Thread& thread, const Collected& collected, bool several_processes) {
    const bool is_number = thread.tid.find_first_not_of("0123456789-") == std::string::npos;
    const std::string& name = thread.name.empty() && !is_number ? thread.tid : thread.name;
    if (!several_processes) return name;
    const auto process = collected.processes.find(thread.pid);
    const std::string& of = process == collected.processes.end() ? thread.pid : process->second;
    return name.empty() ? of : fmt::format("{}: {}", of, name);
}

ThreadBuilder& add(const Thread& thread, std::string name, const Scale& scale, TraceBuilder& builder) {
    ThreadBuilder& added =
        builder.add_thread(std::move(name), number_in<std::uint32_t>(thread.tid).value_or(0));
    if (thread.start < thread.end) {
        added.began(scale(thread.start * kPerNanosecond));
        added.ended(scale(thread.end * kPerNanosecond));
    }
    return added;
}

void emit_absences(Thread& thread, const Scale& scale, ThreadBuilder& out) {
    std::ranges::sort(thread.absences, {}, &Absence::out);
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const Absence& each : thread.absences) {
        if (each.out < last || each.in <= each.out) continue;
        last = each.in;
        out.off_cpu({.out = scale(each.out), .in = scale(each.in), .preempted = each.preempted});
    }
}

std::optional<std::string> only_process(const Collected& collected) {
    const std::string* only = nullptr;
    for (const Thread& thread : collected.threads) {
        if (thread.calls.empty()) continue;
        if (only != nullptr && *only != thread.pid) return {};
        only = &thread.pid;
    }
    if (only == nullptr) return {};
    return *only;
}

/// What only rdam's own export tells.
void restore_clock(const Collected& collected, TraceBuilder& builder) {
    trace::ClockInfo& clock = builder.info().clock;
    const auto ticks = [&](const char* name) {
        const auto found = collected.facts.find(name);
        const auto value = found == collected.facts.end() ? std::nullopt : amount_in(found->second);
        return value.value_or(0) * clock.ticks_per_second / 1e9;
    };
    clock.probe_ticks = ticks("probe_ns");
    clock.probe_inner_ticks = ticks("probe_inner_ns");
    clock.flow_ticks = ticks("flow_ns");
    clock.floor_ticks = ticks("floor_ns");
    clock.error_ticks = ticks("clock_error_ns");
    constexpr double kMostStep = 1e15;
    const double step = std::min(ticks("clock_step_ns"), kMostStep);
    clock.step_ticks = std::max(clock.step_ticks, static_cast<std::uint64_t>(std::ceil(step)));
}

}  // namespace

std::optional<std::string> fill(Collected& collected, TraceBuilder& builder) {
    for (Thread& thread : collected.threads) {
        const MarkCounts marks = match_marks(thread, collected.values);
        collected.unmatched += marks.unmatched;
        collected.unfinished += marks.open;
        sort_calls(thread, collected.from_rdam());
    }
    const Times times = times_of(collected);
    const Scale scale{times, collected.origin};
    builder.set_clock(collected.from_rdam() ? "rdam's JSON" : "trace events", scale.per_second(),
                      scale.step());
    if (collected.from_rdam()) restore_clock(collected, builder);
    Functions functions{collected, builder};
    std::optional<std::string> only = only_process(collected);
    for (Thread& thread : collected.threads) {
        if (thread.calls.empty() && thread.absences.empty() && thread.start == thread.end) continue;
        ThreadBuilder& out = add(thread, thread_name(thread, collected, !only), scale, builder);
        Emitter emitter{functions, scale, collected.from_rdam(), out};
        for (const Call& call : thread.calls)
            emitter.call(call);
        emitter.end();
        collected.overlapping += emitter.overlapping();
        thread.calls = {};
        emit_absences(thread, scale, out);
    }
    return only;
}

}  // namespace rdam::inputs::chrome
