#include "analyzer/inputs/chrome/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "analyzer/inputs/chrome/own.h"

namespace rdam::inputs::chrome {

std::uint32_t Names::number(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const auto added = numbers_.emplace(text, next).first;
    texts_.push_back(&added->first);
    return next;
}

void Collector::event(const Event& event) {
    if (event.phase == 'M') {
        name_something(event);
        return;
    }
    const bool ends = event.phase == 'E';
    if (event.phase != 'X' && event.phase != 'B' && !ends) {
        ++collected_.passed_over;
        return;
    }
    const auto at = time_of(event);
    if (!at || (event.name.empty() && !ends)) {
        ++collected_.unusable;
        return;
    }
    if (event.phase == 'X')
        span(event, *at);
    else
        mark(event, *at);
}

void Collector::fact(const Argument& fact) {
    // A file that means no good may have as many as it likes.
    constexpr std::size_t kMostFacts = 10'000;
    if (collected_.facts.size() >= kMostFacts) return;
    std::string& text = collected_.facts[fact.name];
    if (fact.type == ValueType::text) text = fact.text;
    if (fact.type == ValueType::integer) text = fmt::format("{}", static_cast<std::int64_t>(fact.bits));
    if (fact.type == ValueType::floating) text = fmt::format("{}", std::bit_cast<double>(fact.bits));
}

void Collector::name_something(const Event& event) {
    const Argument* const name = event.argument("name");
    if (name == nullptr || name->type != ValueType::text) return;
    if (event.name == "process_name") collected_.processes[event.pid] = name->text;
    if (event.name != "thread_name") return;
    if (collected_.from_rdam() && own_thread(event.tid).row != rdam::chrome::Row::calls) return;
    Thread& thread = thread_of(event.pid, event.tid);
    thread.name = name->text;
    const Argument* const start = event.argument("start_ns");
    const Argument* const end = event.argument("end_ns");
    if (!collected_.from_rdam() || start == nullptr || end == nullptr) return;
    constexpr std::int64_t kFarthest = std::int64_t{1} << 50;  // nanoseconds
    thread.start = std::clamp(static_cast<std::int64_t>(start->bits), -kFarthest, kFarthest);
    thread.end = std::clamp(static_cast<std::int64_t>(end->bits), -kFarthest, kFarthest);
}

/// Picoseconds since the origin. Nothing: there is no time, or it is too far from the origin.
std::optional<std::int64_t> Collector::time_of(const Event& event) {
    constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4 / Decimal::kParts;
    if (!event.begin) return std::nullopt;
    if (!has_origin_) collected_.origin.whole = collected_.from_rdam() ? 0 : event.begin->whole;
    has_origin_ = true;
    const std::int64_t whole = event.begin->whole - collected_.origin.whole;
    if (whole < -kFarthest || whole > kFarthest) return std::nullopt;
    if (event.duration && (event.duration->whole < 0 || event.duration->whole > kFarthest))
        return std::nullopt;
    return whole * Decimal::kParts + event.begin->millionths;
}

void Collector::span(const Event& event, std::int64_t begin) {
    if (collected_.from_rdam() && beside_calls(event, begin)) return;
    Call call{
        .begin = begin, .end = begin, .function = function_of(event), .ends = event.duration.has_value()};
    if (event.duration) call.end += event.duration->whole * Decimal::kParts + event.duration->millionths;
    call.values = values_of(event);
    if (collected_.from_rdam()) {
        const Argument* const end = event.argument("end");
        if (end != nullptr && end->text == "not seen") call.ends = false;
        if (event.argument("stands_for_calls") != nullptr) ++collected_.stands_for;
    }
    Thread& thread = thread_of(event.pid, event.tid);
    call.order = thread.events++;
    thread.calls.push_back(call);
}

/// Whether the slice is in a row that rdam's export has beside those of the calls.
bool Collector::beside_calls(const Event& event, std::int64_t begin) {
    const OwnThread own = own_thread(event.tid);
    if (own.row == rdam::chrome::Row::calls) return false;
    if (own.row == rdam::chrome::Row::merged) {
        const Argument* const calls = event.argument("calls");
        collected_.merged += calls == nullptr ? 0 : calls->bits;
    }
    if (own.row != rdam::chrome::Row::off_cpu || !event.duration) return true;
    const std::int64_t length = event.duration->whole * Decimal::kParts + event.duration->millionths;
    thread_of(event.pid, own.tid)
        .absences.push_back({.out = begin, .in = begin + length, .preempted = event.name == "preempted"});
    return true;
}

void Collector::mark(const Event& event, std::int64_t at) {
    Mark mark{.at = at, .begins = event.phase == 'B'};
    if (mark.begins) mark.function = function_of(event);
    mark.name = event.name.empty() ? Mark::kNoName : collected_.names.number(event.name);
    mark.values = values_of(event);
    Thread& thread = thread_of(event.pid, event.tid);
    mark.order = thread.events++;
    thread.marks.push_back(mark);
}

std::uint32_t Collector::function_of(const Event& event) {
    constexpr unsigned kHalf = 32;
    const std::uint32_t name = collected_.names.number(event.name);
    const std::uint32_t category = collected_.names.number(event.category);
    const auto [found, is_new] = functions_.try_emplace(
        std::uint64_t{name} << kHalf | category, static_cast<std::uint32_t>(collected_.functions.size()));
    if (is_new) collected_.functions.push_back({.name = name, .category = category, .parameters = {}});
    return found->second;
}

Thread& Collector::thread_of(std::string_view pid, std::string_view tid) {
    thread_key_.assign(pid).append("\n").append(tid);
    const auto [found, is_new] =
        threads_.try_emplace(thread_key_, static_cast<std::uint32_t>(collected_.threads.size()));
    if (is_new) {
        collected_.threads.emplace_back();
        collected_.threads.back().pid = pid;
        collected_.threads.back().tid = tid;
    }
    return collected_.threads[found->second];
}

std::uint32_t Collector::values_of(const Event& event) {
    const std::size_t first = collected_.values.size();
    for (const Argument& each : event.arguments) {
        if (collected_.from_rdam())
            rdam_values(each);
        else
            keep(each.name, each.type, each.type == ValueType::text ? builder_.text(each.text) : each.bits);
    }
    if (collected_.values.size() == first) return kNoValues;
    collected_.values.back().last = true;
    return static_cast<std::uint32_t>(first);
}

void Collector::keep(std::string_view name, ValueType type, std::uint64_t bits) {
    if (collected_.values.size() >= kNoValues) {
        ++collected_.values_left_out;
        return;
    }
    collected_.values.push_back({.bits = bits, .name = collected_.names.number(name), .type = type});
}

void Collector::keep_own(std::string_view name, const OwnValue& value) {
    keep(name, value.type, value.type == ValueType::text ? builder_.text(value.text) : value.bits);
}

void Collector::rdam_values(const Argument& argument) {
    if (argument.name == "result")
        if (const auto value = own_value(argument.text)) keep_own(kResult, *value);
    if (argument.name != "parameters") return;
    each_own_value(argument.text,
                   [&](std::string_view name, const OwnValue& value) { keep_own(name, value); });
}

}  // namespace rdam::inputs::chrome
