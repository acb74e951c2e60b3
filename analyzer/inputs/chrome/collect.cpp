#include "analyzer/inputs/chrome/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "wrappers/text/text_lines.h"

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
    if (fact.name == "rows_from_tid") collected_.first_row = number_in<std::uint64_t>(text);
}

void Collector::name_something(const Event& event) {
    const Argument* const name = event.argument("name");
    if (name == nullptr || name->type != ValueType::text) return;
    if (event.name == "process_name") collected_.processes[event.pid] = name->text;
    if (event.name != "thread_name") return;
    thread_of(event.pid, event.tid).name = name->text;
}

/// Picoseconds since the origin. Nothing: there is no time, or it is too far from the origin.
std::optional<std::int64_t> Collector::time_of(const Event& event) {
    constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4 / Microseconds::kParts;
    if (!event.begin) return std::nullopt;
    if (!has_origin_) collected_.origin.whole = event.begin->whole;
    has_origin_ = true;
    const std::int64_t whole = event.begin->whole - collected_.origin.whole;
    if (whole < -kFarthest || whole > kFarthest) return std::nullopt;
    if (event.duration && (event.duration->whole < 0 || event.duration->whole > kFarthest))
        return std::nullopt;
    return whole * Microseconds::kParts + event.begin->millionths;
}

void Collector::span(const Event& event, std::int64_t begin) {
    if (is_beside_threads(event)) return;
    Call call{
        .begin = begin, .end = begin, .function = function_of(event), .ends = event.duration.has_value()};
    if (event.duration) call.end += event.duration->whole * Microseconds::kParts + event.duration->millionths;
    call.values = values_of(event);
    const Argument* const end = event.argument("end");
    if (collected_.first_row && end != nullptr && end->text == "not seen") call.ends = false;
    Thread& thread = thread_of(event.pid, event.tid);
    call.order = thread.events++;
    thread.calls.push_back(call);
}

/// Whether rdam's export draws it in a row beside those of the threads.
bool Collector::is_beside_threads(const Event& event) {
    const auto tid = collected_.first_row ? number_in<std::uint64_t>(event.tid) : std::nullopt;
    if (!tid || *tid < *collected_.first_row) return false;
    if (const Argument* const calls = event.argument("calls")) collected_.merged += calls->bits;
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
    // The others in rdam's export are no parameters, but what rdam has found about the call.
    for (const Argument& each : event.arguments)
        if (!collected_.first_row || each.name == "parameters" || each.name == "result") keep(each);
    if (collected_.values.size() == first) return kNoValues;
    collected_.values.back().last = true;
    return static_cast<std::uint32_t>(first);
}

void Collector::keep(const Argument& argument) {
    if (collected_.values.size() >= kNoValues) {
        ++collected_.values_left_out;
        return;
    }
    const bool is_text = argument.type == ValueType::text;
    collected_.values.push_back({.bits = is_text ? builder_.text(argument.text) : argument.bits,
                                 .name = collected_.names.number(argument.name),
                                 .type = argument.type});
}

}  // namespace rdam::inputs::chrome
