// An OTF2 archive (Open Trace Format 2, of Score-P), as Vampir and otf2-print read it: a location for each
// thread, a region for each function, and what was recorded of a call as attributes of its enter and leave.
// Times are ticks of the trace's clock since the run began.
#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/otf2_archive.h"
#include "analyzer/inputs/otf2/names.h"
#include "tools/base/printable.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::exports::otf2 {
namespace {

// What the events of an archive refer to by number: strings, attributes and regions.

/// Bytes of a text of a definition, or of a property: far below the chunk that it must fit in.
inline constexpr std::size_t kLongest = std::size_t{1} << 16U;

/// Each text once.
class Strings : private Unmovable {
  public:
    Strings() = default;
    ~Strings() = default;
    // It holds pointers into itself.

    OTF2_StringRef ref(std::string_view text);
    void write(Archive& archive, OTF2_GlobalDefWriter* writer) const;

  private:
    std::map<std::string, OTF2_StringRef> refs_;
    std::vector<const std::string*> texts_;  // by number
};

/// A recorded word as an attribute of an event.
struct Attribute {
    OTF2_AttributeRef ref = 0;
    OTF2_Type type = OTF2_TYPE_UINT64;
    std::uint16_t word = 0;
    std::uint8_t size = 8;
};

/// Of a function.
struct CallAttributes {
    std::vector<Attribute> parameters;  ///< each with another number; a made-up trace may have more of them
    std::optional<Attribute> result = {};
};

/// Everything but locations. Regions have the numbers of their functions; those behind them are the times
/// off the processor.
class Definitions {
  public:
    explicit Definitions(const trace::TraceInfo& info);

    const CallAttributes& of(std::uint32_t function) const { return calls_[function]; }
    /// A recorded word as the value of the attribute. Nothing: it is a text that the call does not have.
    std::optional<OTF2_AttributeValue> value(const Attribute& attribute, std::uint64_t recorded) const;
    OTF2_RegionRef off_processor(const trace::OffCpu& time) const {
        const std::size_t why = !time.preempted ? 0 : (time.by_recorder ? 2 : 1);
        return static_cast<OTF2_RegionRef>(calls_.size() + why);
    }
    Strings& strings() { return strings_; }
    /// Last: strings() must not be asked for new ones afterwards.
    void write(Archive& archive, OTF2_GlobalDefWriter* writer) const;

  private:
    struct Described {
        OTF2_StringRef name = 0, description = 0;
        OTF2_Type type = OTF2_TYPE_NONE;
    };
    struct Region {
        OTF2_StringRef name = 0, linkage_name = 0, description = 0, file = OTF2_UNDEFINED_STRING;
        std::uint32_t line = 0;
        OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
        OTF2_Paradigm paradigm = OTF2_PARADIGM_USER;
    };

    void add_own(std::string_view name, std::string_view description, OTF2_Type type);
    Attribute attribute_of(const trace::ParameterInfo& parameter, const std::vector<Attribute>& others);
    Region region_of(const trace::FunctionInfo& function);
    Region off_processor_region(std::string_view why);

    Strings strings_;
    std::vector<OTF2_StringRef> texts_;  ///< of trace::TraceInfo::texts; the last: any that the trace has not
    std::vector<Described> attributes_;
    /// By name and type: functions that have a parameter like that share it.
    std::map<std::pair<std::string, OTF2_Type>, std::vector<OTF2_AttributeRef>> known_;
    std::vector<CallAttributes> calls_;
    std::vector<Region> regions_;
};

/// The most that a function may have. The library compares each attribute of an event with all others; only a
/// made-up trace has more.
constexpr std::size_t kMaxParameters = 64;

/// In place of a text that the trace has not kept.
constexpr std::string_view kForgotten = "(a text that was not kept)";

OTF2_Type type_of(const trace::ParameterInfo& parameter) {
    if (parameter.is_text) return OTF2_TYPE_STRING;
    switch (static_cast<ValueKind>(parameter.kind)) {
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return OTF2_TYPE_INT64;
        case ValueKind::boolean:
            return OTF2_TYPE_UINT8;
        case ValueKind::floating:
            return parameter.size == 4 ? OTF2_TYPE_FLOAT : OTF2_TYPE_DOUBLE;
        case ValueKind::unsigned_integer:
        case ValueKind::pointer:
            break;
    }
    return OTF2_TYPE_UINT64;
}

std::int64_t sign_extended_to(std::uint8_t bytes, std::uint64_t word) {
    if (bytes == 0 || bytes >= 8) return static_cast<std::int64_t>(word);
    const unsigned unused = 64U - 8U * bytes;
    return static_cast<std::int64_t>(word << unused) >> unused;
}

/// Safe for a terminal, and not longer than kLongest.
std::string fitting(std::string_view text) {
    std::string safe = printable(text);
    if (safe.size() <= kLongest) return safe;
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(safe[at]) & 0xc0U) == 0x80U;
    };
    std::size_t end = kLongest;
    while (end > 0 && continues(end))
        --end;
    safe.resize(end);
    return safe;
}

OTF2_StringRef Strings::ref(std::string_view text) {
    const auto next = static_cast<OTF2_StringRef>(texts_.size());
    const auto [place, fresh] = refs_.try_emplace(fitting(text), next);
    if (fresh) texts_.push_back(&place->first);
    return place->second;
}

void Strings::write(Archive& archive, OTF2_GlobalDefWriter* writer) const {
    for (std::size_t i = 0; i < texts_.size() && archive.good(); ++i)
        archive.call(OTF2_GlobalDefWriter_WriteString, writer, static_cast<OTF2_StringRef>(i),
                     texts_[i]->c_str());
}

std::optional<OTF2_AttributeValue> Definitions::value(const Attribute& attribute,
                                                      std::uint64_t recorded) const {
    OTF2_AttributeValue value;
    value.uint64 = recorded;
    switch (attribute.type) {
        case OTF2_TYPE_INT64:
            value.int64 = sign_extended_to(attribute.size, recorded);
            break;
        case OTF2_TYPE_UINT8:
            value.uint8 = recorded != 0 ? 1 : 0;
            break;
        case OTF2_TYPE_FLOAT:
            value.float32 = std::bit_cast<float>(static_cast<std::uint32_t>(recorded));
            break;
        case OTF2_TYPE_DOUBLE:
            value.float64 = std::bit_cast<double>(recorded);
            break;
        case OTF2_TYPE_STRING:
            if (recorded == 0) return {};
            value.stringRef = texts_[std::min<std::uint64_t>(recorded, texts_.size()) - 1];
            break;
        default:
            break;
    }
    return value;
}

Definitions::Definitions(const trace::TraceInfo& info) {
    // In the order of their numbers.
    add_own("calls", "recorded calls that this one stands for, itself included", OTF2_TYPE_UINT64);
    add_own("lost_ns", "nanoseconds that the call lost", OTF2_TYPE_DOUBLE);
    add_own("end", "how the call ended, if it did not return", OTF2_TYPE_STRING);
    add_own("reason", "why the recorder held the thread", OTF2_TYPE_STRING);
    add_own("processor", "on which the thread went on", OTF2_TYPE_UINT32);
    for (const std::string& text : info.texts)
        texts_.push_back(strings_.ref(text));
    texts_.push_back(strings_.ref(kForgotten));
    for (const trace::FunctionInfo& function : info.functions) {
        CallAttributes& call = calls_.emplace_back();
        for (const trace::ParameterInfo& parameter : function.parameters)
            if (call.parameters.size() < kMaxParameters)
                call.parameters.push_back(attribute_of(parameter, call.parameters));
        if (!function.result.empty()) call.result = attribute_of(function.result.front(), {});
        regions_.push_back(region_of(function));
    }
    for (const char* const why : {"waits", "preempted", "displaced by the recorder"})
        regions_.push_back(off_processor_region(why));
}

void Definitions::add_own(std::string_view name, std::string_view description, OTF2_Type type) {
    attributes_.push_back({strings_.ref(name), strings_.ref(description), type});
}

/// An event cannot have one attribute twice: a second parameter of the same name and type has its own.
Attribute Definitions::attribute_of(const trace::ParameterInfo& parameter,
                                    const std::vector<Attribute>& others) {
    const OTF2_Type type = type_of(parameter);
    auto& same = known_[{parameter.name, type}];
    const auto nth = static_cast<std::size_t>(std::ranges::count_if(
        others, [&](const Attribute& other) { return std::ranges::find(same, other.ref) != same.end(); }));
    if (nth == same.size()) {
        same.push_back(static_cast<OTF2_AttributeRef>(attributes_.size()));
        attributes_.push_back({strings_.ref(parameter.name), strings_.ref(parameter.type), type});
    }
    return {same[nth], type, parameter.word, parameter.size};
}

Definitions::Region Definitions::region_of(const trace::FunctionInfo& function) {
    Region region{
        .name = strings_.ref(function.name),
        .linkage_name = strings_.ref(function.linkage_name.empty() ? function.name : function.linkage_name),
        .description = strings_.ref(function.module)};
    if (function.source.empty()) return region;
    const std::string_view source = function.source;
    const std::size_t colon = source.rfind(':');
    const char* const end = source.data() + source.size();
    if (colon != std::string_view::npos) {
        const auto [rest, error] = std::from_chars(source.data() + colon + 1, end, region.line);
        if (error != std::errc{} || rest != end) region.line = 0;
    }
    region.file = strings_.ref(region.line == 0 ? source : source.substr(0, colon));
    return region;
}

Definitions::Region Definitions::off_processor_region(std::string_view why) {
    const OTF2_StringRef name = strings_.ref(fmt::format("off the processor: {}", why));
    return {.name = name,
            .linkage_name = name,
            .description = strings_.ref("the thread was on no processor"),
            .role = OTF2_REGION_ROLE_ARTIFICIAL,
            .paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM};
}

void Definitions::write(Archive& archive, OTF2_GlobalDefWriter* writer) const {
    strings_.write(archive, writer);
    for (std::size_t i = 0; i < attributes_.size() && archive.good(); ++i)
        archive.call(OTF2_GlobalDefWriter_WriteAttribute, writer, static_cast<OTF2_AttributeRef>(i),
                     attributes_[i].name, attributes_[i].description, attributes_[i].type);
    for (std::size_t i = 0; i < regions_.size() && archive.good(); ++i) {
        const Region& region = regions_[i];
        archive.call(OTF2_GlobalDefWriter_WriteRegion, writer, static_cast<OTF2_RegionRef>(i), region.name,
                     region.linkage_name, region.description, region.role, region.paradigm,
                     OTF2_REGION_FLAG_NONE, region.file, region.line, 0);
    }
}

}  // namespace
}  // namespace rdam::exports::otf2

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
