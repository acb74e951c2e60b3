// An OTF2 archive (Open Trace Format 2, of Score-P), as Vampir and otf2-print read it: a location for each
// thread, a region for each function, and what was recorded of a call as attributes of its enter and leave.
// Times are ticks of the trace's clock since the run began.
#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/otf2_archive.h"
#include "analyzer/export/otf2_definitions.h"
#include "analyzer/inputs/otf2/names.h"
#include "tools/trace/event.h"

namespace rdam::exports {
namespace {

using otf2::Archive;
using otf2::Definitions;

// Values of the attribute `reason`, in the order of trace::PauseReason.
constexpr std::array<std::string_view, 4> kReasons{"stack copy", "new chunk", "buffer full", "other"};

/// Of the archive's clock: ticks since the run began.
std::uint64_t ticks(const views::Visit& visit, std::uint64_t tsc) {
    const std::uint64_t origin = visit.clock().origin;
    return tsc > origin ? tsc - origin : 0;
}

struct DeleteList {
    void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
};

/// What the archive says about a thread.
struct Location {
    std::uint32_t thread = 0;
    std::uint64_t events = 0;
};

/// Calls, and between them the times off the processor and those of the recorder.
class LocationEvents final : public views::CallVisitor {
  public:
    /// All must outlive it.
    LocationEvents(const views::Visit& visit, Definitions& definitions, Archive& archive,
                   OTF2_EvtWriter* writer, const std::vector<trace::OffCpu>& off_cpu)
        : visit_(visit),
          definitions_(definitions),
          archive_(archive),
          writer_(writer),
          off_cpu_(off_cpu),
          attributes_(archive.get(OTF2_AttributeList_New)) {
        for (std::size_t i = 0; i < calls::kEndWords.size(); ++i)
            ends_[i] = definitions.strings().ref(calls::kEndWords[i]);
        for (std::size_t i = 0; i < reasons_.size(); ++i)
            reasons_[i] = definitions.strings().ref(kReasons[i]);
    }

    bool goes_on() const override { return archive_.good(); }

    void opened(const views::Opened& call) override {
        catch_up(call.tsc);
        for (const otf2::Attribute& parameter : definitions_.of(call.function).parameters)
            if (parameter.word < call.words.size()) add(parameter, call.words[parameter.word]);
        if (call.weight != 1) {
            OTF2_AttributeValue weight;
            weight.uint64 = call.weight;
            add(rdam::otf2::kCalls, OTF2_TYPE_UINT64, weight);
        }
        enter(call.tsc, call.function);
    }

    void closed(const views::Closed& call) override {
        catch_up(call.tsc);
        const auto& result = definitions_.of(call.function).result;
        if (result && call.result != nullptr) add(*result, *call.result);
        OTF2_AttributeValue value;
        if (call.timed && call.outermost) {
            value.float64 = call.lost * visit_.clock().ns_per_tick;
            add(rdam::otf2::kLost, OTF2_TYPE_DOUBLE, value);
        }
        if (call.end != calls::End::returned) {
            value.stringRef = ends_[static_cast<std::size_t>(call.end)];
            add(rdam::otf2::kEnd, OTF2_TYPE_STRING, value);
        }
        leave(call.tsc, call.function);
        ++calls_;
    }

    void paused(const views::Paused& pause) override { pauses_.push_back(pause); }

    /// What belongs before `tsc`. A time off the processor in the middle of which a call begins or ends comes
    /// in parts, as regions nest.
    void catch_up(std::uint64_t tsc) {
        write_pauses(next_ < off_cpu_.size() ? std::min(tsc, off_cpu_[next_].out) : tsc);
        while (next_ < off_cpu_.size() && std::max(off_cpu_[next_].out, off_done_) < tsc) {
            const trace::OffCpu& time = off_cpu_[next_];
            write_off_cpu(time, std::max(time.out, off_done_), std::min(time.in, tsc));
            off_done_ = std::min(time.in, tsc);
            if (time.in > tsc) break;
            ++next_;
        }
    }

    std::uint64_t calls() const { return calls_; }
    std::uint64_t last() const { return last_; }

  private:
    void write_off_cpu(const trace::OffCpu& time, std::uint64_t out, std::uint64_t in) {
        enter(out, definitions_.off_processor(time));
        if (time.cpu != trace::kNoCpu) {
            OTF2_AttributeValue processor;
            processor.uint32 = time.cpu;
            add(rdam::otf2::kProcessor, OTF2_TYPE_UINT32, processor);
        }
        leave(in, definitions_.off_processor(time));
    }
    /// In their order among the calls, for which the times of some are moved.
    void write_pauses(std::uint64_t until) {
        for (const views::Paused& pause : pauses_) {
            OTF2_AttributeValue value;
            value.stringRef = reasons_[std::min(static_cast<std::size_t>(pause.reason), reasons_.size() - 1)];
            add(rdam::otf2::kReason, OTF2_TYPE_STRING, value);
            last_ = std::max(ticks(visit_, std::min(pause.begin, until)), last_);
            archive_.call(OTF2_EvtWriter_BufferFlush, writer_, attributes_.get(), last_,
                          std::max(ticks(visit_, pause.end), last_));
        }
        pauses_.clear();
    }
    void add(const otf2::Attribute& attribute, std::uint64_t recorded) {
        if (const auto value = definitions_.value(attribute, recorded))
            add(attribute.ref, attribute.type, *value);
    }
    void add(OTF2_AttributeRef attribute, OTF2_Type type, OTF2_AttributeValue value) {
        archive_.call(OTF2_AttributeList_AddAttribute, attributes_.get(), attribute, type, value);
    }
    // With what was added.
    void enter(std::uint64_t tsc, OTF2_RegionRef region) {
        last_ = std::max(ticks(visit_, tsc), last_);
        archive_.call(OTF2_EvtWriter_Enter, writer_, attributes_.get(), last_, region);
    }
    void leave(std::uint64_t tsc, OTF2_RegionRef region) {
        last_ = std::max(ticks(visit_, tsc), last_);
        archive_.call(OTF2_EvtWriter_Leave, writer_, attributes_.get(), last_, region);
    }

    const views::Visit& visit_;
    const Definitions& definitions_;
    Archive& archive_;
    OTF2_EvtWriter* writer_;
    const std::vector<trace::OffCpu>& off_cpu_;
    std::size_t next_ = 0;
    std::uint64_t off_done_ = 0;  ///< off_cpu_ is written up to then
    std::unique_ptr<OTF2_AttributeList, DeleteList> attributes_;
    std::array<OTF2_StringRef, calls::kEndWords.size()> ends_{};
    std::array<OTF2_StringRef, kReasons.size()> reasons_{};
    std::vector<views::Paused> pauses_;  ///< since the last call began or ended
    std::uint64_t calls_ = 0;
    std::uint64_t last_ = 0;
};

/// Calls and times of a whole archive.
struct Totals {
    std::uint64_t calls = 0;
    std::uint64_t last = 0;
};

Result<Location> write_location(const views::Visit& visit, std::uint32_t thread, Definitions& definitions,
                                Archive& archive, Totals& totals) {
    const auto off_cpu = visit.off_cpu(thread);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    OTF2_EvtWriter* writer = archive.get(OTF2_Archive_GetEvtWriter, archive.handle(), thread);
    if (!archive.good()) return tl::unexpected{archive.state().error()};
    Location location{.thread = thread};
    LocationEvents events{visit, definitions, archive, writer, *off_cpu};
    if (archive.good()) {
        const auto read = visit.thread(thread, events);
        if (!read && archive.good()) return tl::unexpected{read.error()};
        events.catch_up(visit.span().end);
    }
    archive.call(OTF2_EvtWriter_GetNumberOfEvents, writer, &location.events);
    // The reader of the library (3.0.2) uses what it has freed where a location has no events.
    if (location.events == 0) {
        OTF2_AttributeList* const none = nullptr;
        const std::uint64_t start = std::max(visit.info().threads[thread].start, visit.span().begin);
        archive.call(OTF2_EvtWriter_MeasurementOnOff, writer, none, ticks(visit, start), OTF2_MEASUREMENT_ON);
        ++location.events;
    }
    archive.call(OTF2_Archive_CloseEvtWriter, archive.handle(), writer);
    if (!archive.good()) return tl::unexpected{archive.state().error()};
    totals.calls += events.calls();
    totals.last = std::max(totals.last, events.last());
    return location;
}

Result<std::vector<Location>> write_locations(const views::Visit& visit, Definitions& definitions,
                                              Archive& archive, Totals& totals) {
    std::vector<Location> locations;
    archive.call(OTF2_Archive_OpenEvtFiles, archive.handle());
    for (const std::uint32_t thread : visit.threads()) {
        const auto location = write_location(visit, thread, definitions, archive, totals);
        if (!location) return tl::unexpected{location.error()};
        locations.push_back(*location);
    }
    archive.call(OTF2_Archive_CloseEvtFiles, archive.handle());
    // Readers look for these, which say how numbers of a location become the archive's: they are the same.
    archive.call(OTF2_Archive_OpenDefFiles, archive.handle());
    for (const Location& location : locations) {
        OTF2_DefWriter* writer = archive.get(OTF2_Archive_GetDefWriter, archive.handle(), location.thread);
        if (!archive.good()) break;
        archive.call(OTF2_Archive_CloseDefWriter, archive.handle(), writer);
    }
    archive.call(OTF2_Archive_CloseDefFiles, archive.handle());
    if (!archive.good()) return tl::unexpected{archive.state().error()};
    return locations;
}

/// UNIX time of the archive's 0.
std::uint64_t start_of_run(const views::Visit& visit) {
    const trace::ClockInfo& clock = visit.info().clock;
    const std::int64_t after = visit.clock().since_origin(clock.start_tsc);
    if (clock.start_unix_ns == 0 || (after > 0 && static_cast<std::uint64_t>(after) > clock.start_unix_ns))
        return OTF2_UNDEFINED_TIMESTAMP;
    return clock.start_unix_ns - static_cast<std::uint64_t>(after);
}

void write_machine(const views::Visit& visit, const std::vector<Location>& locations,
                   Definitions& definitions, Archive& archive, OTF2_GlobalDefWriter* writer) {
    const trace::TraceInfo& info = visit.info();
    otf2::Strings& strings = definitions.strings();
    const OTF2_StringRef host = strings.ref(info.process.host.empty() ? "(unknown host)" : info.process.host);
    const OTF2_StringRef node = strings.ref("node");
    const OTF2_StringRef process =
        strings.ref(fmt::format("{} {}", info.process.pid, views::program_name(info)));
    std::vector<OTF2_StringRef> names;
    for (const Location& location : locations) {
        const trace::ThreadInfo& thread = info.threads[location.thread];
        names.push_back(strings.ref(trace::thread_label(thread, location.thread)));
    }
    definitions.write(archive, writer);
    archive.call(OTF2_GlobalDefWriter_WriteSystemTreeNode, writer, 0, host, node,
                 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    archive.call(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain, writer, 0,
                 OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    archive.call(OTF2_GlobalDefWriter_WriteLocationGroup, writer, 0, process,
                 OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
    for (std::size_t i = 0; i < locations.size() && archive.good(); ++i)
        archive.call(OTF2_GlobalDefWriter_WriteLocation, writer, locations[i].thread, names[i],
                     OTF2_LOCATION_TYPE_CPU_THREAD, locations[i].events, 0);
}

}  // namespace

Result<Written> write_otf2(const views::Visit& visit, const Options& /*options*/, const Place& place) {
    // The library looks through all locations for each new one, and a made-up trace of some kilobytes may have a hundred
    // thousand.
    constexpr std::size_t kMostThreads = std::size_t{1} << 15U;
    if (visit.threads().size() > kMostThreads)
        return fail(
            "the trace has {} threads, and an OTF2 archive two files for each; at most {} are written: "
            "choose with "
            "--thread",
            visit.threads().size(), kMostThreads);
    auto made = Archive::create(place.folder, place.name, visit.threads().size());
    if (!made) return tl::unexpected{made.error()};
    Archive& archive = **made;
    const trace::ProcessInfo& process = visit.info().process;
    const std::string creator = fmt::format("{}{}", rdam::otf2::kExportOf, trace::recorded_with(process));
    archive.call(OTF2_Archive_SetCreator, archive.handle(), otf2::fitting(creator).c_str());
    archive.call(OTF2_Archive_SetMachineName, archive.handle(), otf2::fitting(process.machine).c_str());
    Definitions definitions{visit.info()};
    Totals totals;
    const auto locations = write_locations(visit, definitions, archive, totals);
    if (!locations) return tl::unexpected{locations.error()};
    OTF2_GlobalDefWriter* writer = archive.get(OTF2_Archive_GetGlobalDefWriter, archive.handle());
    if (!archive.good()) return tl::unexpected{archive.state().error()};
    const auto per_second = static_cast<std::uint64_t>(std::llround(1e9 / visit.clock().ns_per_tick));
    const std::uint64_t length = std::max(totals.last, ticks(visit, visit.span().end));
    archive.call(OTF2_GlobalDefWriter_WriteClockProperties, writer, per_second, 0, length,
                 start_of_run(visit));
    write_machine(visit, *locations, definitions, archive, writer);
    archive.call(OTF2_Archive_CloseGlobalDefWriter, archive.handle(), writer);
    if (auto closed = archive.close(); !closed) return tl::unexpected{closed.error()};
    return Written{.calls = totals.calls};
}

}  // namespace rdam::exports
