#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/json_events.h"
#include "tools/base/text_lines.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs::chrome {
namespace {

// The functions of a trace, with a word for each parameter.

/// A parameter is each name that a value of any call has, up to Function::kMaxParameters; where a call has
/// no such value, its word is 0.
class Functions {
  public:
    /// Looks at the values of all calls, and adds all functions that are called. Values beyond the bound are
    /// counted in Collected::values_left_out.
    Functions(Collected& collected, TraceBuilder& builder);

    std::uint32_t number(const Call& call) const { return functions_[call.function].number; }
    /// Valid until the next call of this.
    std::span<const std::uint64_t> words_of(const Call& call);

  private:
    struct Parameter {
        std::uint32_t name = 0;
        ValueKind kind = ValueKind::signed_integer;
        bool is_text = false;
    };
    struct Known {
        std::uint32_t number = 0;  ///< in the trace
        bool called = false;
        std::vector<Parameter> parameters;
    };
    void learn(const Call& call);
    void add(std::uint32_t function);
    std::uint64_t word(const Value& value, const Parameter& parameter);

    Collected& collected_;
    TraceBuilder& builder_;
    std::vector<Known> functions_;
    std::vector<std::uint64_t> words_;
};

std::uint32_t bit_of(ValueType type) {
    return 1U << static_cast<unsigned>(type);
}

bool is_below_zero(const Value& value) {
    if (value.type == ValueType::integer) return static_cast<std::int64_t>(value.bits) < 0;
    return value.type == ValueType::floating && std::bit_cast<double>(value.bits) < 0;
}

/// One kind for all the types that occurred.
ValueKind kind_for(std::uint32_t types) {
    const auto has = [types](ValueType type) { return (types & bit_of(type)) != 0; };
    if (has(ValueType::text)) return ValueKind::enumeration;
    if (has(ValueType::floating)) return ValueKind::floating;
    if (has(ValueType::large)) {
        const bool has_negative = (types & Function::kNegative) != 0;
        return has_negative ? ValueKind::floating : ValueKind::unsigned_integer;
    }
    return types == bit_of(ValueType::boolean) ? ValueKind::boolean : ValueKind::signed_integer;
}

double as_double(const Value& value) {
    if (value.type == ValueType::floating) return std::bit_cast<double>(value.bits);
    if (value.type == ValueType::integer) return static_cast<double>(static_cast<std::int64_t>(value.bits));
    return static_cast<double>(value.bits);
}

std::string as_text(const Value& value) {
    if (value.type == ValueType::boolean) return value.bits != 0 ? "true" : "false";
    if (value.type == ValueType::floating) return fmt::format("{}", std::bit_cast<double>(value.bits));
    if (value.type == ValueType::integer) return fmt::format("{}", static_cast<std::int64_t>(value.bits));
    return fmt::format("{}", value.bits);
}

Functions::Functions(Collected& collected, TraceBuilder& builder) : collected_(collected), builder_(builder) {
    functions_.resize(collected.functions.size());
    for (const Thread& thread : collected.threads)
        for (const Call& call : thread.calls)
            learn(call);
    for (std::uint32_t function = 0; function < functions_.size(); ++function)
        if (functions_[function].called) add(function);
}

void Functions::learn(const Call& call) {
    functions_[call.function].called = true;
    if (call.values == kNoValues) return;
    std::vector<Function::Parameter>& known = collected_.functions[call.function].parameters;
    for (std::uint32_t at = call.values;; ++at) {
        const Value& value = collected_.values[at];
        auto found = std::ranges::find(known, value.name, &Function::Parameter::name);
        if (found == known.end() && known.size() < Function::kMaxParameters)
            found = known.insert(known.end(), {.name = value.name});
        if (found == known.end())
            ++collected_.values_left_out;
        else
            found->types |= bit_of(value.type) | (is_below_zero(value) ? Function::kNegative : 0);
        if (value.last) break;
    }
}

void Functions::add(std::uint32_t function) {
    const Function& from = collected_.functions[function];
    Known& known = functions_[function];
    trace::FunctionInfo info;
    info.name = info.linkage_name = collected_.names.text(from.name);
    info.module = collected_.names.text(from.category);
    info.any_name = !collected_.names_functions();
    info.object = builder_.object(info.module);
    for (const Function::Parameter& each : from.parameters) {
        const Parameter described{.name = each.name,
                                  .kind = kind_for(each.types),
                                  .is_text = (each.types & bit_of(ValueType::text)) != 0};
        const std::string& name = collected_.names.text(each.name);
        known.parameters.push_back(described);
        info.parameters.push_back(described.is_text ? text_parameter(name)
                                                    : parameter(name, described.kind, ""));
    }
    known.number = builder_.add_function(std::move(info));
}

std::uint64_t Functions::word(const Value& value, const Parameter& parameter) {
    if (parameter.is_text) return value.type == ValueType::text ? value.bits : builder_.text(as_text(value));
    return parameter.kind == ValueKind::floating ? put_value(as_double(value)) : value.bits;
}

std::span<const std::uint64_t> Functions::words_of(const Call& call) {
    const std::vector<Parameter>& parameters = functions_[call.function].parameters;
    words_.assign(parameters.size(), 0);
    if (call.values == kNoValues) return words_;
    for (std::uint32_t at = call.values;; ++at) {
        const Value& value = collected_.values[at];
        const auto found = std::ranges::find(parameters, value.name, &Parameter::name);
        if (found != parameters.end())
            words_[static_cast<std::size_t>(found - parameters.begin())] = word(value, *found);
        if (value.last) break;
    }
    return words_;
}

constexpr std::int64_t kPerNanosecond = 1000;  // picoseconds

/// What the times of all threads have in common.
struct Times {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    std::int64_t step = Microseconds::kParts;  ///< the largest power of ten that divides all, 1 µs at most

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
    Scale(const Times& times, const Microseconds& origin)
        : per_tick_(times.step >= kPerNanosecond ? kPerNanosecond : 1), step_(times.step / per_tick_) {
        constexpr long double kMost = 4e18L;
        const std::int64_t ticks_per_microsecond = Microseconds::kParts / per_tick_;
        const std::int64_t first_tick = times.first / per_tick_, last_tick = times.last / per_tick_;
        const auto start =
            static_cast<long double>(origin.whole) * static_cast<long double>(ticks_per_microsecond);
        const long double first = start + static_cast<long double>(first_tick);
        const long double last = start + static_cast<long double>(last_tick);
        const bool fit = first >= 0 && last < kMost;
        shift_ = fit ? origin.whole * (Microseconds::kParts / per_tick_) : -(times.first / per_tick_);
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

/// A call that takes no time may begin where the one around it ends. Most tools write a call when it
/// ends, and so after those inside it.
bool is_over(const Call& open, const Call& next) {
    if (open.end != next.begin) return open.end < next.begin;
    return next.end > next.begin || next.order > open.order;
}

/// The rows of a thread. Calls of which one begins inside the other and ends after it are on different ones, as
/// the streams of a device have them.
class Rows {
  public:
    /// `step`: of the clock, picoseconds.
    Rows(Thread& thread, Collected& collected, std::int64_t step)
        : thread_(thread), collected_(collected), step_(step) {}

    /// Sets Call::row, and cuts what is inside another call. How many rows there are.
    std::size_t place() {
        open_.emplace_back();
        for (std::uint32_t i = 0; i < thread_.calls.size(); ++i) {
            Call& call = thread_.calls[i];
            ++collected_.calls;
            if (call.ends) collected_.shortest = std::min(collected_.shortest, call.end - call.begin);
            if (call.on_cpu != kNoTime) ++collected_.with_cpu_time;
            for (auto& row : open_)
                while (!row.empty() && is_over(thread_.calls[row.back()], call))
                    row.pop_back();
            call.row = row_for(call);
            std::vector<std::uint32_t>& row = open_[call.row];
            if (!row.empty() && call.end > thread_.calls[row.back()].end)
                cut(call, thread_.calls[row.back()].end);
            row.push_back(i);
        }
        return open_.size();
    }

  private:
    /// Each call looks at all of them.
    static constexpr std::size_t kMostOfThread = 64;
    static constexpr std::size_t kMostInAll = 4096;

    /// Inside of what began last, or where nothing is open, or on a new one.
    std::uint32_t row_for(const Call& call) {
        std::size_t inside = open_.size(), empty = open_.size();
        for (std::size_t row = 0; row < open_.size(); ++row) {
            if (open_[row].empty()) {
                empty = std::min(empty, row);
                continue;
            }
            const Call& around = thread_.calls[open_[row].back()];
            const bool fits = !call.ends || call.end <= around.end + rounding(call);
            if (fits && (inside == open_.size() || around.begin >= thread_.calls[open_[inside].back()].begin))
                inside = row;
        }
        if (inside < open_.size()) return static_cast<std::uint32_t>(inside);
        if (empty < open_.size()) return on_other_row(empty);
        if (open_.size() == kMostOfThread || collected_.rows_added == kMostInAll) return 0;
        ++collected_.rows_added;
        open_.emplace_back();
        return on_other_row(open_.size() - 1);
    }
    std::uint32_t on_other_row(std::size_t row) {
        if (row > 0) ++collected_.on_other_rows;
        return static_cast<std::uint32_t>(row);
    }
    /// By how much a writer may have rounded its times.
    std::int64_t rounding(const Call& call) const {
        constexpr std::int64_t kHundredth = 100;
        return std::min<std::int64_t>(Microseconds::kParts,
                                      std::max(2 * step_, (call.end - call.begin) / kHundredth));
    }
    /// Cut short by more than what a writer rounds away, it would be the fastest of its kind, with which all
    /// others are compared.
    void cut(Call& call, std::int64_t end) {
        const bool is_rounded = call.end - end <= rounding(call);
        if (call.ends) ++(is_rounded ? collected_.rounded : collected_.overlapping);
        call.ends = call.ends && is_rounded;
        call.end = end;
    }

    Thread& thread_;
    Collected& collected_;
    std::int64_t step_;
    std::vector<std::vector<std::uint32_t>> open_;  // by row: calls of the thread, the innermost last
};

/// When the thread of a row was off the processor, from how long its calls were on it. When inside a call that
/// was is not known: it counts as early as no call inside, of which the same is known, has it.
class CpuTimes {
  public:
    CpuTimes(const Scale& scale, std::int64_t step, ThreadBuilder& out)
        : scale_(scale), step_(step), out_(out) {}

    void begin(const Call& call, std::size_t depth) {
        if (call.on_cpu == kNoTime || !call.ends) return;
        known_.push_back({.depth = depth, .from = call.begin, .off_inside = 0, .first_gap = gaps_.size()});
    }
    void end(const Call& call, std::size_t depth) {
        if (known_.empty() || known_.back().depth != depth) return;
        const Known known = known_.back();
        known_.pop_back();
        add_gap(known.from, call.end);
        const std::int64_t off = std::max(call.end - call.begin - call.on_cpu, known.off_inside);
        // Less than that is a difference between two clocks.
        if (off - known.off_inside > 2 * step_) take(known.first_gap, off - known.off_inside);
        gaps_.resize(known.first_gap);
        if (known_.empty()) return;
        Known& around = known_.back();
        add_gap(around.from, call.begin);
        around.from = std::max(around.from, call.end);
        around.off_inside += off;
    }

  private:
    struct Known {
        std::size_t depth = 0;
        std::int64_t from = 0;        ///< of what no gap was made of yet
        std::int64_t off_inside = 0;  ///< in the calls inside
        std::size_t first_gap = 0;    ///< between those
    };
    struct Gap {
        std::int64_t begin = 0, end = 0;
    };

    void add_gap(std::int64_t begin, std::int64_t end) {
        if (begin < end) gaps_.push_back({begin, end});
    }
    void take(std::size_t gap, std::int64_t off) {
        for (; gap < gaps_.size() && off > 0; ++gap) {
            const std::int64_t part = std::min(off, gaps_[gap].end - gaps_[gap].begin);
            const std::uint64_t out = scale_(gaps_[gap].begin), in = scale_(gaps_[gap].begin + part);
            if (out < in) out_.off_cpu({.out = out, .in = in});
            off -= part;
        }
    }

    const Scale& scale_;
    std::int64_t step_;
    ThreadBuilder& out_;
    std::vector<Known> known_;
    std::vector<Gap> gaps_;
};

/// Writes the calls of one row, nested.
class Emitter {
  public:
    /// `step`: of the clock, picoseconds.
    Emitter(Functions& functions, const Scale& scale, std::int64_t step, ThreadBuilder& out)
        : functions_(functions), scale_(scale), cpu_times_(scale, step, out), out_(out) {}

    void call(const Call& call) {
        while (!open_.empty() && is_over(open_.back(), call))
            close();
        out_.enter(scale_(call.begin), functions_.number(call), functions_.words_of(call));
        cpu_times_.begin(call, open_.size());
        open_.push_back(call);
    }
    void end() {
        // Nothing around the outermost of them tells when they ended.
        const auto first = std::ranges::find(open_, true, &Call::ends);
        const auto still_open = static_cast<std::size_t>(first - open_.begin());
        while (open_.size() > still_open)
            close();
    }

  private:
    void close() {
        const Call call = open_.back();
        open_.pop_back();
        cpu_times_.end(call, open_.size());
        const std::uint64_t at = scale_(call.end);
        // The other functions of ThreadBuilder go by the name, which a call around it may have, too.
        if (call.ends)
            out_.leave(at);
        else
            out_.unwind(at, open_.size());
    }

    Functions& functions_;
    const Scale& scale_;
    CpuTimes cpu_times_;
    ThreadBuilder& out_;
    std::vector<Call> open_;
};

Times times_of(const Collected& collected) {
    Times times;
    for (const Thread& thread : collected.threads) {
        for (const Call& call : thread.calls) {
            times.take(call.begin);
            if (call.ends) times.take(call.end);
        }
    }
    return times;
}

/// `processes`: process_names().
std::string thread_name(const Thread& thread, const std::unordered_map<std::string, std::string>& processes,
                        bool several_processes) {
    const bool is_number = thread.tid.find_first_not_of("0123456789-") == std::string::npos;
    const std::string& name = thread.name.empty() && !is_number ? thread.tid : thread.name;
    if (!several_processes) return name;
    const std::string& of = processes.at(thread.pid);
    return name.empty() ? of : fmt::format("{}: {}", of, name);
}

/// What each process with calls is called, by pid: its name and labels, and where several have these, its pid.
std::unordered_map<std::string, std::string> process_names(const Collected& collected) {
    std::unordered_map<std::string, std::string> names;
    for (const Thread& thread : collected.threads) {
        if (thread.calls.empty() || names.contains(thread.pid)) continue;
        const auto process = collected.processes.find(thread.pid);
        std::string& name = names[thread.pid];
        if (process == collected.processes.end()) continue;
        name = process->second.name;
        if (!process->second.labels.empty())
            name += (name.empty() ? "" : " ") + fmt::format("({})", process->second.labels);
    }
    std::unordered_map<std::string, std::size_t> uses;
    for (const auto& [pid, name] : names)
        ++uses[name];
    for (auto& [pid, name] : names) {
        if (name.empty())
            name = pid;
        else if (uses[name] > 1)
            name += " " + pid;
    }
    return names;
}

/// Of its rows behind the first.
std::string row_name(const Thread& thread, const std::string& name, std::size_t row) {
    return fmt::format("{} ({})", name.empty() ? thread.tid : name, row + 1);
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

}  // namespace

std::optional<std::string> fill(Collected& collected, TraceBuilder& builder) {
    match_marks(collected);
    const Times times = times_of(collected);
    const Scale scale{times, collected.origin};
    builder.set_clock("trace events", scale.per_second(), scale.step());
    Functions functions{collected, builder};
    builder.info().process.unwound_unseen = true;
    std::optional<std::string> only = only_process(collected);
    const auto processes = process_names(collected);
    for (Thread& thread : collected.threads) {
        if (thread.calls.empty()) continue;
        const std::size_t rows = Rows{thread, collected, times.step}.place();
        thread.has_calls = true;
        const std::string name = thread_name(thread, processes, !only);
        std::vector<ThreadBuilder*> outs;
        std::vector<Emitter> emitters;
        for (std::size_t row = 0; row < rows; ++row) {
            const auto tid = row == 0 ? number_in<std::uint32_t>(thread.tid).value_or(0) : 0;
            outs.push_back(&builder.add_thread(row == 0 ? name : row_name(thread, name, row), tid));
            emitters.emplace_back(functions, scale, times.step, *outs.back());
        }
        for (const Call& call : thread.calls)
            emitters[call.row].call(call);
        for (Emitter& emitter : emitters)
            emitter.end();
        thread.calls = {};
        for (ThreadBuilder* const out : outs)
            out->release();
    }
    return only;
}

}  // namespace rdam::inputs::chrome
