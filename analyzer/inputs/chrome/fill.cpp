#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
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

/// The values of a "B" and those of its "E", which count where both have a name.
std::uint32_t joined(std::uint32_t begin, std::uint32_t end, std::vector<Value>& values) {
    if (begin == kNoValues) return end;
    if (end == kNoValues || values.size() >= kNoValues / 2) return begin;
    const auto first = static_cast<std::uint32_t>(values.size());
    for (const std::uint32_t list : {begin, end})
        for (std::uint32_t at = list;; ++at) {
            const Value value = values[at];
            values.push_back(value);
            values.back().last = false;
            if (value.last) break;
        }
    values.back().last = true;
    return first;
}

/// Of the calls that are open, the one which the mark ends; `open.size()`: none.
std::size_t ended_by(const Mark& mark, const std::vector<Mark>& open) {
    // A file that means no good may have many that end nothing.
    constexpr std::size_t kMaxSearched = 1000;
    if (mark.name == Mark::kNoName) return open.empty() ? 0 : open.size() - 1;
    for (std::size_t back = 1; back <= std::min(open.size(), kMaxSearched); ++back)
        if (open[open.size() - back].name == mark.name) return open.size() - back;
    return open.size();
}

std::int64_t last_time(const Thread& thread) {
    std::int64_t last = thread.marks.empty() ? INT64_MIN : thread.marks.back().at;
    for (const Call& call : thread.calls)
        last = std::max(last, call.end);
    return last;
}

/// Makes calls of a thread's marks, by time. An "E" with a name ends the innermost call of that name.
void match_marks(Thread& thread, Collected& collected) {
    std::ranges::stable_sort(thread.marks, {}, &Mark::at);
    std::vector<Mark> open;
    const auto add = [&](const Mark& begin, std::int64_t end, bool ends, std::uint32_t its_values) {
        thread.calls.push_back({.begin = begin.at,
                                .end = end,
                                .function = begin.function,
                                .values = its_values,
                                .order = begin.order,
                                .ends = ends});
    };
    for (const Mark& mark : thread.marks) {
        if (mark.begins) {
            open.push_back(mark);
            continue;
        }
        const std::size_t which = ended_by(mark, open);
        if (which == open.size()) {
            ++collected.unmatched;
            continue;
        }
        collected.unfinished += open.size() - which - 1;
        for (std::size_t inner = open.size() - 1; inner > which; --inner)
            add(open[inner], mark.at, false, open[inner].values);
        add(open[which], mark.at, true, joined(open[which].values, mark.values, collected.values));
        open.resize(which);
    }
    collected.unfinished += open.size();
    const std::int64_t last = last_time(thread);
    for (const Mark& mark : open)
        add(mark, last, false, mark.values);
    thread.marks = {};
    for (Call& call : thread.calls)
        if (!call.ends && call.end == call.begin) call.end = last;
}

/// By begin; of those that begin together the longer ones first. Of equal ones that which was written first
/// is around the others.
void sort_calls(Thread& thread) {
    std::ranges::sort(thread.calls, [](const Call& a, const Call& b) {
        if (a.begin != b.begin) return a.begin < b.begin;
        if (a.end != b.end) return a.end > b.end;
        return a.order < b.order;
    });
}

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

/// Writes the calls of one thread, nested.
class Emitter {
  public:
    /// `step`: of the clock, picoseconds.
    Emitter(Collected& collected, Functions& functions, const Scale& scale, std::int64_t step,
            ThreadBuilder& out)
        : collected_(collected), functions_(functions), scale_(scale), step_(step), out_(out) {}

    void call(const Call& call) {
        while (!open_.empty() && is_over(open_.back(), call))
            close();
        Call inner = call;
        if (!open_.empty() && inner.end > open_.back().end) cut(inner, open_.back().end);
        out_.enter(scale_(inner.begin), functions_.number(inner), functions_.words_of(inner));
        open_.push_back(inner);
    }
    void end() {
        // Nothing around the outermost of them tells when they ended.
        const auto first = std::ranges::find(open_, true, &Call::ends);
        const auto still_open = static_cast<std::size_t>(first - open_.begin());
        while (open_.size() > still_open)
            close();
    }

  private:
    /// A call that takes no time may begin where the one around it ends. Most tools write a call when it
    /// ends, and so after those inside it.
    static bool is_over(const Call& open, const Call& next) {
        if (open.end != next.begin) return open.end < next.begin;
        return next.end > next.begin || next.order > open.order;
    }
    /// Cut short by more than what a writer rounds away, it would be the fastest of its kind, with which all
    /// others are compared.
    void cut(Call& call, std::int64_t end) {
        constexpr std::int64_t kHundredth = 100;
        const std::int64_t rounding = std::min<std::int64_t>(
            Microseconds::kParts, std::max(2 * step_, (call.end - call.begin) / kHundredth));
        const bool is_rounded = call.end - end <= rounding;
        if (call.ends) ++(is_rounded ? collected_.rounded : collected_.overlapping);
        call.ends = call.ends && is_rounded;
        call.end = end;
    }
    void close() {
        const Call call = open_.back();
        open_.pop_back();
        const std::uint64_t at = scale_(call.end);
        // The other functions of ThreadBuilder go by the name, which a call around it may have, too.
        if (call.ends)
            out_.leave(at);
        else
            out_.unwind(at, open_.size());
    }

    Collected& collected_;
    Functions& functions_;
    const Scale& scale_;
    std::int64_t step_;
    ThreadBuilder& out_;
    std::vector<Call> open_;
};

Times times_of(const Collected& collected) {
    Times times;
    for (const Thread& thread : collected.threads) {
        for (const Call& call : thread.calls) {
            times.take(call.begin);
            times.take(call.end);
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
    for (Thread& thread : collected.threads) {
        match_marks(thread, collected);
        sort_calls(thread);
    }
    const Times times = times_of(collected);
    const Scale scale{times, collected.origin};
    builder.set_clock("trace events", scale.per_second(), scale.step());
    Functions functions{collected, builder};
    builder.info().process.unwound_unseen = true;
    std::optional<std::string> only = only_process(collected);
    for (Thread& thread : collected.threads) {
        if (thread.calls.empty()) continue;
        ThreadBuilder& out = builder.add_thread(thread_name(thread, collected, !only),
                                                number_in<std::uint32_t>(thread.tid).value_or(0));
        Emitter emitter{collected, functions, scale, times.step, out};
        for (const Call& call : thread.calls)
            emitter.call(call);
        emitter.end();
        thread.calls = {};
        out.release();
    }
    return only;
}

}  // namespace rdam::inputs::chrome
