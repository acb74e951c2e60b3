#include "analyzer/formats/otf2/own_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/otf2/names.h"
#include "analyzer/otf2/sampling.h"
#include "analyzer/trace/waiters.h"

namespace rdam::formats::otf2 {
namespace {

class Properties {
  public:
    explicit Properties(Archive& archive) : archive_(archive) {}

    void write(const std::string& name, std::string_view value) {
        if (value.empty()) return;  // the library takes it for the wish to remove the property
        archive_.call(OTF2_Archive_SetProperty, archive_.handle(), name.c_str(), fitting(value).c_str(),
                      true);
    }
    template <class Number>
    void write_number(const char* name, Number value) {
        write(name, fmt::format("{}", value));
    }

  private:
    Archive& archive_;
};

void write_process(const trace::ProcessInfo& process, Properties& properties) {
    properties.write(rdam::otf2::kVersion, process.rdam_version);
    properties.write(rdam::otf2::kRecorder, process.recorder);
    properties.write(rdam::otf2::kCommand, fmt::format("{}", fmt::join(process.command, " ")));
    properties.write_number(rdam::otf2::kPid, process.pid);
    properties.write_number(rdam::otf2::kProcessors, process.processors);
    properties.write_number(rdam::otf2::kMaxOverhead, process.max_overhead);
    properties.write_number(rdam::otf2::kMachineShare, process.machine_share);
    properties.write_number(rdam::otf2::kCleanEnd, process.clean_end ? 1 : 0);
}

void write_clock(const trace::ClockInfo& clock, Properties& properties) {
    properties.write(rdam::otf2::kClockSource, clock.source);
    properties.write_number(rdam::otf2::kTicksPerSecond, clock.ticks_per_second);
    properties.write_number(rdam::otf2::kProbe, clock.probe_ticks);
    properties.write_number(rdam::otf2::kProbeInner, clock.probe_inner_ticks);
    properties.write_number(rdam::otf2::kFlow, clock.flow_ticks);
    properties.write_number(rdam::otf2::kFloor, clock.floor_ticks);
    properties.write_number(rdam::otf2::kClockStep, clock.step_ticks);
    properties.write_number(rdam::otf2::kClockError, clock.error_ticks);
}

void write_switches(const views::Visit& visit, Properties& properties) {
    const trace::SwitchInfo& switches = visit.info().switches;
    if (switches.state == trace::SwitchInfo::State::recorded)
        properties.write(rdam::otf2::kSwitches, rdam::otf2::kSwitchesRecorded);
    if (switches.state != trace::SwitchInfo::State::stopped) return;
    properties.write(rdam::otf2::kSwitches, rdam::otf2::kSwitchesStopped);
    properties.write_number(rdam::otf2::kSwitchesUntil, ticks(visit, switches.until));
    properties.write(rdam::otf2::kSwitchesReason, switches.reason);
}

void write_sampling(const views::Visit& visit, Properties& properties) {
    const trace::TraceInfo& info = visit.info();
    const std::vector<std::uint32_t> waiters = trace::waiters(info.functions);
    for (std::size_t f = 0; f < info.functions.size(); ++f) {
        const trace::FunctionInfo& function = info.functions[f];
        rdam::otf2::FunctionSampling sampling{
            .sampled = function.sampled, .counted = function.counted, .most_rate = function.most_rate};
        if (function.windowed_since != 0) sampling.windowed_since = ticks(visit, function.windowed_since);
        sampling.window_group = function.window_group;
        if (function.switched_off != 0) sampling.switched_off = ticks(visit, function.switched_off);
        if (function.wait_of != 0 && waiters[f] != trace::kNoFunction) sampling.wait_of = waiters[f];
        properties.write(fmt::format("{}{}", rdam::otf2::kSamplingOf, f), rdam::otf2::text_of(sampling));
    }
    std::vector<trace::Window> windows;
    for (const trace::Window& each : info.windows) {
        const trace::Window window{
            .begin = ticks(visit, each.begin), .end = ticks(visit, each.end), .group = each.group};
        if (window.end > window.begin) windows.push_back(window);
    }
    const std::vector<std::string> texts = rdam::otf2::texts_of(windows, kLongest);
    for (std::size_t i = 0; i < texts.size(); ++i)
        properties.write(fmt::format("{}{}", rdam::otf2::kWindows, i), texts[i]);
}

}  // namespace

void write_properties(const views::Visit& visit, Archive& archive) {
    Properties properties{archive};
    write_process(visit.info().process, properties);
    write_clock(visit.info().clock, properties);
    properties.write_number(rdam::otf2::kEventsLost, visit.info().dropped);
    write_switches(visit, properties);
    write_sampling(visit, properties);
}

ThreadProperties::ThreadProperties(const views::Visit& visit, Definitions& definitions, Archive& archive)
    : visit_(visit),
      archive_(archive),
      began_(definitions.strings().ref(rdam::otf2::kThreadBegan)),
      ended_(definitions.strings().ref(rdam::otf2::kThreadEnded)),
      counted_until_(definitions.strings().ref(rdam::otf2::kCountedUntil)),
      dropped_(definitions.strings().ref(rdam::otf2::kDropped)),
      unwritten_(definitions.strings().ref(rdam::otf2::kUnwritten)) {
    const auto& functions = visit.info().functions;
    for (std::size_t f = 0; f < functions.size(); ++f)
        calls_of_.push_back(functions[f].counted
                                ? definitions.strings().ref(fmt::format("{}{}", rdam::otf2::kCallsOf, f))
                                : OTF2_UNDEFINED_STRING);
}

void ThreadProperties::write(std::uint32_t thread, OTF2_GlobalDefWriter* writer) {
    const trace::ThreadInfo& info = visit_.info().threads[thread];
    // 0: it is not known.
    const trace::TickRange& span = visit_.span();
    const std::uint64_t began = info.start == 0 ? 0 : std::max(info.start, span.begin);
    const std::uint64_t ended = info.end == 0 ? 0 : std::min(info.end, span.end);
    if (began != 0) write(thread, began_, ticks(visit_, began), writer);
    if (ended != 0) write(thread, ended_, ticks(visit_, ended), writer);
    if (info.dropped != 0) write(thread, dropped_, info.dropped, writer);
    if (info.unwritten != 0) write(thread, unwritten_, info.unwritten, writer);
    // How many of them were in a part of its life is not known.
    if (info.calls_until == 0 || began != info.start || ended != info.end) return;
    write(thread, counted_until_, ticks(visit_, info.calls_until), writer);
    for (const trace::CallCount& count : info.calls)
        if (count.function < calls_of_.size() && calls_of_[count.function] != OTF2_UNDEFINED_STRING)
            write(thread, calls_of_[count.function], count.calls, writer);
}

void ThreadProperties::write(std::uint32_t thread, OTF2_StringRef name, std::uint64_t value,
                             OTF2_GlobalDefWriter* writer) {
    OTF2_AttributeValue property;
    property.uint64 = value;
    archive_.call(OTF2_GlobalDefWriter_WriteLocationProperty, writer, thread, name, OTF2_TYPE_UINT64,
                  property);
}

}  // namespace rdam::formats::otf2
