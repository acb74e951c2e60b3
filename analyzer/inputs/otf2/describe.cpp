#include "analyzer/inputs/otf2/describe.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/otf2/names.h"
#include "analyzer/otf2/sampling.h"
#include "analyzer/trace/thread_label.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::otf2 {
namespace {

std::string name_of(const Definitions& definitions, const Location& location) {
    const auto group = definitions.groups.find(location.group);
    const std::string_view outer =
        group == definitions.groups.end() ? std::string_view{} : definitions.text(group->second);
    const std::string_view inner = definitions.text(location.name);
    if (inner.empty()) return outer.empty() ? fmt::format("location {}", location.ref) : std::string{outer};
    // EZTrace repeats the group: P#0T#1.
    if (outer.empty() || inner.starts_with(outer)) return std::string{inner};
    return fmt::format("{}: {}", outer, inner);
}

using Numbers = std::unordered_map<std::string, std::uint64_t>;

/// Of a location of ours; nothing: it has no such property, or one that can be no time.
std::optional<std::uint64_t> time_in(const Numbers& numbers, std::string_view property) {
    const auto found = numbers.find(std::string{property});
    if (found == numbers.end() || found->second > kLatest) return {};
    return found->second;
}

/// 0: there is none.
std::uint64_t number_of(const Numbers& numbers, std::string_view property) {
    const auto found = numbers.find(std::string{property});
    return found == numbers.end() ? 0 : found->second;
}

/// By function, rising.
std::vector<trace::CallCount> counts_in(const Numbers& numbers, const Functions& functions) {
    std::vector<trace::CallCount> counts;
    for (const auto& [name, calls] : numbers) {
        if (!name.starts_with(rdam::otf2::kCallsOf)) continue;
        const auto region =
            number_in<OTF2_RegionRef>(std::string_view{name}.substr(rdam::otf2::kCallsOf.size()));
        const Layout* layout = region ? functions.find(*region) : nullptr;
        if (layout != nullptr && layout->what == Layout::What::function)
            counts.push_back({.function = layout->function, .calls = calls});
    }
    std::ranges::sort(counts, {}, &trace::CallCount::function);
    return counts;
}

void describe_own_thread(const Numbers& numbers, const Functions& functions, ThreadBuilder& thread) {
    if (const auto began = time_in(numbers, rdam::otf2::kThreadBegan)) thread.began(*began);
    if (const auto ended = time_in(numbers, rdam::otf2::kThreadEnded))
        thread.ended(*ended);
    else
        thread.ended_unseen();
    if (const auto until = time_in(numbers, rdam::otf2::kCountedUntil))
        thread.counted(counts_in(numbers, functions), *until);
    thread.lost(number_of(numbers, rdam::otf2::kDropped), number_of(numbers, rdam::otf2::kUnwritten));
}

/// Of a property; 0: there is none, or none that can be.
double ticks_in(const Definitions& definitions, std::string_view property) {
    const double value = number_in<double>(definitions.property(property)).value_or(0);
    return std::isfinite(value) && value >= 0 && value < 1e18 ? value : 0;
}

/// Between single blanks; words may be empty.
std::vector<std::string> split_at_blanks(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

/// What only rdam's own archives tell.
void describe_own(const Definitions& definitions, TraceBuilder& builder) {
    trace::TraceInfo& info = builder.info();
    info.process.recorder = definitions.property(rdam::otf2::kRecorder);
    info.process.rdam_version = definitions.property(rdam::otf2::kVersion);
    info.process.command = split_at_blanks(definitions.property(rdam::otf2::kCommand));
    info.process.pid = number_in<std::uint32_t>(definitions.property(rdam::otf2::kPid)).value_or(0);
    info.process.processors =
        number_in<std::uint32_t>(definitions.property(rdam::otf2::kProcessors)).value_or(0);
    const double share = number_in<double>(definitions.property(rdam::otf2::kMachineShare)).value_or(0);
    if (share > 0 && share <= 1) info.process.machine_share = share;
    info.process.clean_end = definitions.property(rdam::otf2::kCleanEnd) != "0";
    info.dropped = number_in<std::uint64_t>(definitions.property(rdam::otf2::kEventsLost)).value_or(0);
    const double budget = number_in<double>(definitions.property(rdam::otf2::kMaxOverhead)).value_or(0);
    if (budget > 0 && std::isfinite(budget)) info.process.max_overhead = budget;
    trace::ClockInfo& clock = info.clock;
    if (const std::string_view source = definitions.property(rdam::otf2::kClockSource); !source.empty())
        clock.source = source;
    const double per_second =
        number_in<double>(definitions.property(rdam::otf2::kTicksPerSecond)).value_or(0);
    // Nothing that the definition of the clock denies.
    if (std::abs(per_second - clock.ticks_per_second) <= 1) clock.ticks_per_second = per_second;
    clock.probe_ticks = ticks_in(definitions, rdam::otf2::kProbe);
    clock.probe_inner_ticks = ticks_in(definitions, rdam::otf2::kProbeInner);
    clock.flow_ticks = ticks_in(definitions, rdam::otf2::kFlow);
    clock.floor_ticks = ticks_in(definitions, rdam::otf2::kFloor);
    clock.step_ticks = static_cast<std::uint64_t>(ticks_in(definitions, rdam::otf2::kClockStep));
    clock.error_ticks = ticks_in(definitions, rdam::otf2::kClockError);
}

void describe_switches(const Definitions& definitions, TraceBuilder& builder) {
    const std::string_view told = definitions.property(rdam::otf2::kSwitches);
    if (told == rdam::otf2::kSwitchesRecorded)
        builder.info().switches = {.state = trace::SwitchInfo::State::recorded, .reason = {}};
    const auto until = number_in<std::uint64_t>(definitions.property(rdam::otf2::kSwitchesUntil));
    if (told == rdam::otf2::kSwitchesStopped && until && *until <= kLatest)
        builder.switches_stopped(*until, std::string{definitions.property(rdam::otf2::kSwitchesReason)});
}

/// The texts are numbered from 0.
std::vector<trace::Window> windows_in(const Definitions& definitions) {
    std::vector<trace::Window> windows;
    for (std::size_t i = 0;; ++i) {
        const std::string_view text = definitions.property(fmt::format("{}{}", rdam::otf2::kWindows, i));
        if (text.empty() || !rdam::otf2::read_windows(text, kLatest, windows)) return windows;
    }
}

}  // namespace

void add_threads(const Definitions& definitions, std::span<const Location> locations,
                 const Functions& functions, TraceBuilder& builder) {
    static const Numbers kNone;
    for (const Location& location : locations) {
        const auto own =
            definitions.ours() ? trace::thread_in_label(definitions.text(location.name)) : std::nullopt;
        ThreadBuilder& thread = own ? builder.add_thread(own->name, own->tid)
                                    : builder.add_thread(name_of(definitions, location));
        if (!definitions.ours()) continue;
        const auto numbers = definitions.numbers.find(location.ref);
        describe_own_thread(numbers == definitions.numbers.end() ? kNone : numbers->second, functions,
                            thread);
    }
}

void describe(const Definitions& definitions, const std::string& anchor, TraceBuilder& builder) {
    trace::TraceInfo& info = builder.info();
    const bool eztrace = std::filesystem::path{anchor}.stem() == "eztrace_log";
    info.process.recorder = !definitions.creator.empty()
                                ? definitions.creator
                                : (eztrace ? "EZTrace" : "OTF2 " + definitions.version);
    info.process.machine = definitions.machine;
    for (const SystemTreeNode& node : definitions.nodes) {
        if (definitions.text(node.class_name) == "node") info.process.host = definitions.text(node.name);
        // EZTrace's only node is the program.
        if (eztrace) info.process.command = {std::string{definitions.text(node.name)}};
    }
    // The steps in which it moves are not told.
    builder.set_clock("otf2", static_cast<double>(std::max<std::uint64_t>(definitions.clock.per_second, 1)),
                      1);
    if (!definitions.ours()) return;
    describe_own(definitions, builder);
    describe_switches(definitions, builder);
    builder.add_windows(windows_in(definitions));
}

}  // namespace rdam::inputs::otf2
