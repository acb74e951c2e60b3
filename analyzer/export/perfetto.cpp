// Perfetto's native format: a track for each thread, and below it one for its times off the processor, one
// for merged calls and a counter of lost time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <vector>

#include "analyzer/export/slices.h"
#include "tools/base/printable.h"

namespace rdam::exports::perfetto {
namespace {

// The fields of Perfetto's protobuf messages that we write, by their numbers: protos/perfetto/trace/*.proto
// of perfetto v47. tests/e2e/viewers_test.py reads what is written with Perfetto's own classes.

using Tag = std::uint32_t;

namespace trace_file {
inline constexpr Tag kPacket = 1;
}
namespace packet {
inline constexpr Tag kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                     kSequenceFlags = 13, kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace track {
inline constexpr Tag kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process {
inline constexpr Tag kPid = 1, kCommandLine = 2, kName = 6;
}
namespace thread {
inline constexpr Tag kPid = 1, kTid = 2, kName = 5;
}
namespace counter {
inline constexpr Tag kUnit = 3;
inline constexpr std::uint64_t kNanoseconds = 1, kCount = 2;
}  // namespace counter
namespace event {
inline constexpr Tag kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kNameText = 23,
                     kDoubleCounterValue = 44, kFlow = 47;
inline constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounterType = 4;
}  // namespace event
namespace annotation {
inline constexpr Tag kName = 1, kSigned = 4, kText = 6;
}
namespace interned {
inline constexpr Tag kCategories = 1, kNames = 2, kAnnotations = 3;
inline constexpr Tag kId = 1, kText = 2;
}  // namespace interned

}  // namespace
}  // namespace rdam::exports::perfetto

namespace rdam::exports {
namespace {

using protozero::pbf_writer;

/// Names of annotations, interned in this order from 1 on.
enum Annotation : std::uint64_t {
    kLost = 1,
    kBaseline,
    kParameters,
    kResult,
    kStandsFor,
    kHow,
    kCalls,
    kTime,
    kThreadOf,
    kWaited
};
constexpr std::string_view kAnnotations[] = {
    "lost_ns", "baseline_ns", "parameters", "result", "stands_for_calls",
    "end",     "calls",       "time_ns",    "tid",    "waited_ns"};

/// Packets of one sequence, and what they are made of.
class Packets {
  public:
    explicit Packets(Buffer& out) : out_(out) {}

    template <class Fill>
    void packet(const Fill& fill) {
        packet_.clear();
        pbf_writer packet{packet_};
        packet.add_uint32(perfetto::packet::kSequence, kSequence);
        fill(packet);
        pbf_writer file{out_.text()};
        file.add_message(perfetto::trace_file::kPacket, packet_);
        out_.full();
    }
    template <class Fill>
    void track(std::uint64_t uuid, std::uint64_t parent, const std::string& name, const Fill& fill) {
        packet([&](pbf_writer& packet) {
            pbf_writer track{packet, perfetto::packet::kTrackDescriptor};
            track.add_uint64(perfetto::track::kUuid, uuid);
            if (parent != 0) track.add_uint64(perfetto::track::kParent, parent);
            if (!name.empty()) track.add_string(perfetto::track::kName, printable(name));
            fill(track);
        });
    }
    template <class Fill>
    void event(std::int64_t ns, std::uint64_t track, std::uint64_t type, const Fill& fill) {
        packet([&](pbf_writer& packet) {
            // What was recorded before the run's start is at its start: times have no sign.
            packet.add_uint64(perfetto::packet::kTimestamp,
                              static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
            if (type != perfetto::event::kEnd)
                packet.add_uint32(perfetto::packet::kSequenceFlags, perfetto::packet::kNeedsState);
            pbf_writer event{packet, perfetto::packet::kTrackEvent};
            event.add_uint64(perfetto::event::kType, type);
            event.add_uint64(perfetto::event::kTrack, track);
            fill(event);
        });
    }
    template <class Fill>
    void named(std::int64_t begin, std::int64_t end, std::uint64_t track, const std::string& name,
               const Fill& fill) {
        event(begin, track, perfetto::event::kBegin, [&](pbf_writer& event) {
            event.add_string(perfetto::event::kNameText, printable(name));
            fill(event);
        });
        event(end, track, perfetto::event::kEnd, [](pbf_writer&) {});
    }
    void counter(std::uint64_t uuid, std::uint64_t parent, const std::string& name, std::uint64_t unit,
                 std::span<const CounterPoint> points) {
        track(uuid, parent, name, [&](pbf_writer& track) {
            pbf_writer counter{track, perfetto::track::kCounter};
            counter.add_enum(perfetto::counter::kUnit, static_cast<std::int32_t>(unit));
        });
        for (const CounterPoint& point : points)
            event(point.at, uuid, perfetto::event::kCounterType, [&](pbf_writer& event) {
                event.add_double(perfetto::event::kDoubleCounterValue, point.value);
            });
    }

    /// Nanoseconds as whole ones, which take half the room.
    static void annotate(pbf_writer& event, Annotation name, double value) {
        constexpr double kFarthest = 9.2e18;
        annotate(event, name, std::llround(std::clamp(value, -kFarthest, kFarthest)));
    }
    static void annotate(pbf_writer& event, Annotation name, long long value) {
        pbf_writer annotation{event, perfetto::event::kAnnotation};
        annotation.add_uint64(perfetto::annotation::kName, name);
        annotation.add_int64(perfetto::annotation::kSigned, value);
    }
    static void annotate(pbf_writer& event, Annotation name, const std::string& value) {
        if (value.empty()) return;
        pbf_writer annotation{event, perfetto::event::kAnnotation};
        annotation.add_uint64(perfetto::annotation::kName, name);
        annotation.add_string(perfetto::annotation::kText, printable(value));
    }

  private:
    static constexpr std::uint32_t kSequence = 1;

    Buffer& out_;
    std::string packet_;  // scratch
};

constexpr std::uint64_t kProcess = 1, kInside = 2;
/// Above all tracks of threads.
constexpr std::uint64_t kProcessors = std::uint64_t{1} << 40;

class PerfettoThread final : public ThreadSlices {
  public:
    /// `again`: the tid is that of an earlier thread.
    PerfettoThread(const trace::TraceInfo& info, std::uint32_t thread, bool again, Buffer& out)
        : info_(info), number_(thread), packets_(out) {
        const trace::ThreadInfo& own = info.threads[thread];
        // Of threads with the same tid, one after the other, only the first can be described as a thread.
        packets_.track(uuid(kThread), kProcess, again ? fmt::format("{} (again) {}", own.tid, own.name) : "",
                       [&](pbf_writer& track) {
                           if (again) return;
                           pbf_writer described{track, perfetto::track::kThread};
                           described.add_int32(perfetto::thread::kPid,
                                               static_cast<std::int32_t>(info.process.pid));
                           described.add_int32(perfetto::thread::kTid, static_cast<std::int32_t>(own.tid));
                           described.add_string(perfetto::thread::kName, printable(own.name));
                       });
    }

    void slice(const Slice& slice) override {
        packets_.event(slice.begin, uuid(kThread), perfetto::event::kBegin, [&](pbf_writer& event) {
            event.add_uint64(perfetto::event::kName, slice.function + 1U);
            event.add_uint64(perfetto::event::kCategory, slice.function + 1U);
            if (slice.scored) {
                Packets::annotate(event, kLost, slice.lost);
                Packets::annotate(event, kBaseline, slice.baseline);
            }
            Packets::annotate(event, kParameters, views::parameters_text(info_, slice.function, slice.words));
            Packets::annotate(event, kResult, views::result_text(info_, slice.function, slice.result));
            if (slice.weight > 1) Packets::annotate(event, kStandsFor, static_cast<long long>(slice.weight));
            Packets::annotate(event, kHow, slice.odd_end());
        });
        packets_.event(slice.end, uuid(kThread), perfetto::event::kEnd, [](pbf_writer&) {});
    }

    void off_cpu(std::int64_t begin, std::int64_t end, bool preempted) override {
        if (!off_) packets_.track(uuid(kOff), uuid(kThread), "off the processor", [](pbf_writer&) {});
        off_ = true;
        packets_.named(begin, end, uuid(kOff), preempted ? "preempted" : "waits", [](pbf_writer&) {});
    }

    void waited(const Waited& wait) override {
        if (!waits_) packets_.track(uuid(kWaits), uuid(kThread), "who waits for whom", [](pbf_writer&) {});
        waits_ = true;
        // An arrow leads from moment to moment: to a slice, it would lead to its begin.
        const auto moment = [&](const std::string& name) {
            packets_.event(wait.end, uuid(kWaits), perfetto::event::kInstant, [&](pbf_writer& event) {
                event.add_string(perfetto::event::kNameText, printable(name));
                for (const std::uint64_t arrow : wait.arrows)
                    event.add_fixed64(perfetto::event::kFlow, arrow);
            });
        };
        if (!wait.waits) return moment(wait.name);
        packets_.event(wait.begin, uuid(kWaits), perfetto::event::kBegin, [&](pbf_writer& event) {
            event.add_string(perfetto::event::kNameText, printable(wait.name));
            Packets::annotate(event, kWaited, wait.waited_ns);
        });
        moment("goes on");
        packets_.event(wait.end, uuid(kWaits), perfetto::event::kEnd, [](pbf_writer&) {});
    }

    void merged(const MergedCalls& calls) override {
        if (!merged_) packets_.track(uuid(kMerged), uuid(kThread), "other calls", [](pbf_writer&) {});
        merged_ = true;
        const std::string name =
            fmt::format("{} calls, most time in {}", calls.calls, info_.functions[calls.function].name);
        packets_.named(calls.begin, calls.end, uuid(kMerged), name, [&](pbf_writer& event) {
            Packets::annotate(event, kCalls, static_cast<long long>(calls.calls));
            Packets::annotate(event, kLost, calls.lost);
            Packets::annotate(event, kTime, calls.time);
        });
    }

    void lost(std::span<const CounterPoint> points) override {
        packets_.counter(uuid(kLostCounter), uuid(kThread), "lost time", perfetto::counter::kNanoseconds,
                         points);
    }

  private:
    enum Kind : std::uint64_t { kThread = 1, kOff, kMerged, kLostCounter, kWaits };

    std::uint64_t uuid(Kind kind) const { return (std::uint64_t{number_} + 1) * 16 + kind; }

    const trace::TraceInfo& info_;
    std::uint32_t number_;
    Packets packets_;
    bool off_ = false, merged_ = false, waits_ = false;  // these tracks are there
};

class PerfettoSlices final : public SliceWriter {
  public:
    explicit PerfettoSlices(const views::Visit& visit) : visit_(visit) {
        std::set<std::uint32_t> tids;
        for (const trace::ThreadInfo& thread : visit.info().threads)
            again_.push_back(!tids.insert(thread.tid).second);
    }

    void begin(Buffer& out) override {
        Packets packets{out};
        const trace::ProcessInfo& info = visit_.info().process;
        packets.track(kProcess, 0, "", [&](pbf_writer& track) {
            pbf_writer process{track, perfetto::track::kProcess};
            process.add_int32(perfetto::process::kPid, static_cast<std::int32_t>(info.pid));
            for (const std::string& word : info.command)
                process.add_string(perfetto::process::kCommandLine, printable(word));
            process.add_string(perfetto::process::kName, printable(views::program_name(visit_.info())));
        });
        intern(packets);
    }

    std::unique_ptr<ThreadSlices> thread(std::uint32_t thread, Buffer& out) override {
        return std::make_unique<PerfettoThread>(visit_.info(), thread, again_[thread], out);
    }
    void inside(std::span<const CounterPoint> points, Buffer& out) override {
        Packets{out}.counter(kInside, kProcess, "threads inside calls", perfetto::counter::kCount, points);
    }
    void processor(std::span<const OnProcessor> calls, Buffer& out) override {
        Packets packets{out};
        const std::uint64_t cpu = calls.front().cpu;
        if (!processors_) packets.track(kProcessors, kProcess, "processors", [](pbf_writer&) {});
        processors_ = true;
        packets.track(kProcessors + 1 + cpu, kProcessors, fmt::format("processor {}", cpu),
                      [](pbf_writer&) {});
        for (const OnProcessor& each : calls) {
            const trace::ThreadInfo& thread = visit_.info().threads[each.thread];
            packets.event(visit_.clock().since_origin(each.begin), kProcessors + 1 + cpu,
                          perfetto::event::kBegin, [&](pbf_writer& event) {
                              event.add_uint64(perfetto::event::kName, each.function + 1U);
                              event.add_uint64(perfetto::event::kCategory, each.function + 1U);
                              Packets::annotate(event, kThreadOf, static_cast<long long>(thread.tid));
                          });
            packets.event(visit_.clock().since_origin(each.end), kProcessors + 1 + cpu, perfetto::event::kEnd,
                          [](pbf_writer&) {});
        }
    }
    void end(Buffer& /*out*/) override {}

  private:
    /// Functions, their modules and the annotations have numbers from here on.
    void intern(Packets& packets) const {
        packets.packet([&](pbf_writer& packet) {
            packet.add_uint32(perfetto::packet::kSequenceFlags, perfetto::packet::kStateCleared);
            pbf_writer data{packet, perfetto::packet::kInternedData};
            const auto add = [&](perfetto::Tag kind, std::uint64_t id, std::string_view text) {
                pbf_writer entry{data, kind};
                entry.add_uint64(perfetto::interned::kId, id);
                entry.add_string(perfetto::interned::kText, printable(text));
            };
            std::uint64_t id = 0;
            for (const trace::FunctionInfo& function : visit_.info().functions) {
                ++id;
                add(perfetto::interned::kCategories, id, function.module);
                add(perfetto::interned::kNames, id, function.name);
            }
            id = 0;
            for (const std::string_view name : kAnnotations)
                add(perfetto::interned::kAnnotations, ++id, name);
        });
    }

    const views::Visit& visit_;
    bool processors_ = false;  // their track is there
    std::vector<bool> again_;  // by thread: its tid is that of an earlier one
};

}  // namespace

Result<Written> write_perfetto(const views::Visit& visit, const Options& options, Sink& sink) {
    PerfettoSlices writer{visit};
    return write_slices(visit, options, writer, sink);
}

}  // namespace rdam::exports
