#include "analyzer/inputs/chrome/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/chrome/json_events.h"
#include "analyzer/inputs/chrome/json_source.h"
#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::profiles {
namespace {

using chrome::Argument;
using chrome::Event;
using chrome::EventSink;
using chrome::Microseconds;
using chrome::ValueType;

constexpr Microseconds kNoMicroseconds{.whole = std::numeric_limits<std::int64_t>::min()};

/// A number of JSON in units of 10^`exponent` microseconds. kNoMicroseconds: it is none, or too large.
Microseconds time_in(std::string_view text, int exponent) {
    constexpr int kMillionths = 6;
    constexpr std::uint32_t kParts = Microseconds::kParts;
    const auto decimal = parse_decimal(text);
    const auto parts = decimal ? in_units(*decimal, kMillionths + exponent) : std::nullopt;
    if (!parts || *parts / kParts >= static_cast<std::uint64_t>(Microseconds::kMaxWhole))
        return kNoMicroseconds;
    const auto whole = static_cast<std::int64_t>(*parts / kParts);
    const auto rest = static_cast<std::uint32_t>(*parts % kParts);
    if (!decimal->negative) return {whole, rest};
    return rest == 0 ? Microseconds{-whole, 0} : Microseconds{-whole - 1, kParts - rest};
}

std::optional<Microseconds> known(const Microseconds& time) {
    return time == kNoMicroseconds ? std::nullopt : std::optional{time};
}

Microseconds difference(const Microseconds& end, const Microseconds& begin) {
    const bool borrows = end.millionths < begin.millionths;
    return {.whole = end.whole - begin.whole - (borrows ? 1 : 0),
            .millionths = end.millionths + (borrows ? Microseconds::kParts : 0) - begin.millionths};
}

/// What a profile has besides its events.
struct Frame {
    std::string name, file;
};

struct Thread {
    std::string name, process, pid, tid;
    // Of the Firefox Profiler: a column of the table of markers each.
    std::vector<std::uint32_t> names, phases;
    std::vector<Microseconds> begins, ends;
    std::vector<std::string> strings;  ///< of an older version, in which each thread has its own
    // Of speedscope.
    int exponent = 0;  ///< of its unit, in microseconds
    bool has_times = true;
    bool is_evented = false;
};

struct Found {
    std::vector<Thread> threads;
    std::vector<std::string> strings;
    std::vector<Frame> frames;
    std::string recorder, command;
    std::uint64_t samples = 0;      ///< profiles of samples
    std::uint64_t other_units = 0;  ///< evented ones that are not of time
    bool is_export = false;         ///< of rdam
};

/// Where in the document a value is.
enum class Where : std::uint8_t {
    root,
    meta,
    schemas,
    schema,
    threads,
    thread,
    markers,
    column,
    data,
    datum,
    strings,
    shared,
    frames,
    frame,
    profiles,
    profile,
    events,
    event,
    other
};

// NOLINTBEGIN(readability-identifier-naming): nlohmann_json looks for these names.
/// Goes through the document. Without a sink it finds what things are called, with one it gives the events.
class Walker final {
  public:
    Walker(chrome::JsonSource& source, Found& found, EventSink* sink, const Progress& progress)
        : source_(source), found_(found), sink_(sink), progress_(progress) {}

    bool null() { return take({}, false); }
    bool boolean(bool value) {
        type_ = ValueType::boolean;
        bits_ = value ? 1 : 0;
        return take(value ? "true" : "false", false);
    }
    bool number_integer(std::int64_t value) {
        type_ = ValueType::integer;
        bits_ = put_value(value);
        return take(std::to_string(value), false);
    }
    bool number_unsigned(std::uint64_t value) {
        type_ = value >> 63U == 0 ? ValueType::integer : ValueType::large;
        bits_ = value;
        return take(std::to_string(value), false);
    }
    bool number_float(double value, const std::string& text) {
        type_ = ValueType::floating;
        bits_ = put_value(value);
        return take(text, false);
    }
    bool string(const std::string& text) {
        type_ = ValueType::text;
        return take(text, true);
    }
    bool binary(const std::vector<std::uint8_t>& /*value*/) { return true; }
    bool key(const std::string& name) {
        source_.token();
        key_ = name;
        return true;
    }
    bool start_object(std::size_t /*size*/) { return enter(true); }
    bool start_array(std::size_t /*size*/) { return enter(false); }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& problem) {
        problem_ = problem.what();
        return false;
    }

    const std::string& problem() const { return problem_; }
    std::string_view too_many() const { return too_many_; }  ///< of which things; "": of none
    chrome::ReadEvents& read() { return read_; }

  private:
    Where at() const { return open_.empty() ? Where::other : open_.back(); }

    Where inside_of(bool is_object) {
        if (open_.empty()) return is_object ? Where::root : Where::other;
        switch (at()) {
            case Where::root:
                if (is_object)
                    return key_ == "meta" ? Where::meta : key_ == "shared" ? Where::shared : Where::other;
                return key_ == "threads"    ? Where::threads
                       : key_ == "profiles" ? Where::profiles
                                            : Where::other;
            case Where::meta:
                return !is_object && key_ == "markerSchema" ? Where::schemas : Where::other;
            case Where::schemas:
                return is_object ? Where::schema : Where::other;
            case Where::threads:
                if (!is_object) return Where::other;
                begin_thread();
                return Where::thread;
            case Where::thread:
                if (is_object) return key_ == "markers" ? Where::markers : Where::other;
                return key_ == "stringArray" || key_ == "stringTable" ? Where::strings : Where::other;
            case Where::markers:
                if (is_object) return Where::other;
                column_ = key_;
                return key_ == "data" ? Where::data : Where::column;
            case Where::data:
                count_ = 0;
                kind_.clear();
                return is_object ? Where::datum : Where::other;
            case Where::shared:
                if (is_object) return Where::other;
                return key_ == "stringArray" ? Where::strings
                       : key_ == "frames"    ? Where::frames
                                             : Where::other;
            case Where::frames:
                if (!is_object) return Where::other;
                if (sink_ == nullptr) found_.frames.emplace_back();
                if (found_.frames.size() > kMostNames) too_many_ = "1,000,000 frames";
                return Where::frame;
            case Where::profiles:
                if (!is_object) return Where::other;
                begin_thread();
                return Where::profile;
            case Where::profile:
                if (is_object || key_ != "events") return Where::other;
                if (sink_ == nullptr) thread().is_evented = true;
                return Where::events;
            case Where::events:
                mark_ = {};
                return is_object ? Where::event : Where::other;
            default:
                return Where::other;
        }
    }
    bool enter(bool is_object) {
        source_.token();
        if (deeper_ > 0 || open_.size() == kDeepest) {
            ++deeper_;
            return true;
        }
        open_.push_back(inside_of(is_object));
        return too_many_.empty();
    }
    bool leave() {
        if (deeper_ > 0) {
            --deeper_;
            return true;
        }
        const Where where = at();
        open_.pop_back();
        const Where around = at();
        if (around == Where::data) end_row();
        if (where == Where::thread) end_thread();
        if (where == Where::event) end_event();
        if (where == Where::profile && sink_ == nullptr) end_profile();
        return true;
    }

    bool take(std::string_view value, bool is_text) {
        if (deeper_ > 0) return true;
        const Where where = at();
        if (where == Where::data) {
            count_ = 0;
            end_row();
        } else if (where == Where::datum) {
            if (sink_ != nullptr) take_argument(value, is_text);
        } else if (where == Where::event) {
            if (sink_ != nullptr) take_mark(value, is_text);
        } else if (sink_ == nullptr) {
            take_fact(where, value, is_text);
        }
        return too_many_.empty();
    }

    // The first time.

    void take_fact(Where where, std::string_view value, bool is_text) {
        if (where == Where::column) take_cell(value);
        if (where == Where::strings) {
            (open_.size() == kOfThread ? thread().strings : found_.strings).emplace_back(value);
            if (++strings_ > kMostNames) too_many_ = "1,000,000 strings";
        }
        if (!is_text && where == Where::thread && (key_ == "pid" || key_ == "tid"))
            (key_ == "pid" ? thread().pid : thread().tid) = value;
        if (!is_text) return;
        if (where == Where::root && key_ == "exporter") found_.recorder = value;
        if (where == Where::meta) take_meta(value);
        if (where == Where::schema && key_ == "name") {
            has_off_ = has_off_ || value == kOff;
            has_merged_ = has_merged_ || value == kMerged;
            found_.is_export = has_off_ && has_merged_;
        }
        if (where == Where::frame && key_ == "name") found_.frames.back().name = value;
        if (where == Where::frame && key_ == "file") found_.frames.back().file = file_name_of(value);
        if (where == Where::thread || where == Where::profile) take_name(value);
    }
    void take_meta(std::string_view value) {
        if (key_ == "arguments") found_.command = value;
        if (key_ == "importedFrom" && !value.empty()) found_.recorder = value;
        if (key_ == "product" && found_.recorder.empty()) found_.recorder = value;
    }
    void take_name(std::string_view value) {
        if (key_ == "name") thread().name = value;
        if (key_ == "processName") thread().process = value;
        if (key_ == "pid") thread().pid = value;
        if (key_ == "tid") thread().tid = value;
        if (key_ != "unit") return;
        constexpr int kMilli = 3, kSeconds = 6;
        thread().has_times = value.ends_with("seconds");
        thread().exponent = value == "nanoseconds"    ? -kMilli
                            : value == "milliseconds" ? kMilli
                            : value == "seconds"      ? kSeconds
                                                      : 0;
    }
    void take_cell(std::string_view value) {
        constexpr int kMilli = 3;
        const auto number = number_in<std::uint32_t>(value).value_or(UINT32_MAX);
        if (column_ == "name") thread().names.push_back(number);
        if (column_ == "phase") thread().phases.push_back(number);
        if (column_ == "startTime") thread().begins.push_back(time_in(value, kMilli));
        if (column_ == "endTime") thread().ends.push_back(time_in(value, kMilli));
    }
    void begin_thread() {
        // A thread takes far more memory than the two characters that may tell of it; so do frames and strings.
        if (found_.threads.size() >= kMostThreads && sink_ == nullptr) too_many_ = "65,536 threads";
        if (sink_ == nullptr) found_.threads.emplace_back();
        ++threads_;
        row_ = 0;
        if (sink_ != nullptr) name_thread();
    }
    void end_profile() {
        if (!thread().is_evented) ++found_.samples;
        if (thread().is_evented && !thread().has_times) ++found_.other_units;
    }
    Thread& thread() { return found_.threads[threads_ - 1]; }

    // The second time.

    void name_thread() {
        Thread& own = thread();
        if (own.tid.empty()) own.tid = std::to_string(threads_);
        // rdam's export has the tid in front of the name.
        if (found_.is_export && own.name.starts_with(own.tid + " ")) own.name.erase(0, own.tid.size() + 1);
        if (!own.process.empty()) name_something("process_name", own.process);
        if (!own.name.empty()) name_something("thread_name", own.name);
    }
    void name_something(std::string_view what, const std::string& name) {
        const Argument called{.name = "name", .type = ValueType::text, .text = name};
        event_ = {};
        event_.phase = 'M';
        event_.name = what;
        event_.pid = thread().pid;
        event_.tid = thread().tid;
        event_.arguments = {&called, 1};
        sink_->event(event_);
    }

    void take_argument(std::string_view value, bool is_text) {
        if (is_text && key_ == "type") kind_ = value;
        if (value.empty() || key_ == "type") return;
        if (count_ == kMostArguments) {
            ++read_.arguments_left_out;
            return;
        }
        if (count_ == arguments_.size()) arguments_.emplace_back();
        Argument& next = arguments_[count_++];
        next.name = key_;
        next.type = type_;
        next.bits = bits_;
        next.text = is_text ? value : std::string_view{};
    }
    /// A row of the table of markers, with what is known of its data.
    void end_row() {
        if (sink_ != nullptr) give_row(row_, {arguments_.data(), count_});
        ++row_;
        count_ = 0;
        kind_.clear();
    }
    void end_thread() {
        if (sink_ != nullptr)
            for (; row_ < thread().names.size(); ++row_)
                give_row(row_, {});
    }
    void give_row(std::size_t row, std::span<const Argument> arguments) {
        constexpr std::uint32_t kInterval = 1, kBegin = 2, kEnd = 3;
        const Thread& own = thread();
        if (row >= own.names.size()) return;
        const std::vector<std::string>& strings = own.strings.empty() ? found_.strings : own.strings;
        const std::uint32_t name = own.names[row];
        event_ = {};
        if (name < strings.size()) event_.name = strings[name];
        event_.pid = own.pid;
        event_.tid = found_.is_export && (kind_ == kOff || kind_ == kMerged) ? kBesideThreads : own.tid;
        event_.arguments = arguments;
        const auto begin = row < own.begins.size() ? known(own.begins[row]) : std::nullopt;
        const auto end = row < own.ends.size() ? known(own.ends[row]) : std::nullopt;
        const std::uint32_t phase = row < own.phases.size() ? own.phases[row] : end && begin ? kInterval : 0;
        event_.phase = phase == kInterval ? 'X' : phase == kBegin ? 'B' : phase == kEnd ? 'E' : 'I';
        event_.begin = phase == kEnd ? end : begin;
        if (phase == kInterval && begin && end) event_.duration = difference(*end, *begin);
        give();
    }

    void take_mark(std::string_view value, bool is_text) {
        if (key_ == "type" && is_text) mark_.phase = value == "O" ? 'B' : value == "C" ? 'E' : '\0';
        if (key_ == "frame" && !is_text) mark_.frame = number_in<std::uint32_t>(value).value_or(UINT32_MAX);
        if (key_ == "at" && !is_text) mark_.at = value;
    }
    void end_event() {
        if (sink_ == nullptr || !thread().has_times) return;
        event_ = {};
        event_.phase = mark_.phase;
        event_.tid = thread().tid;
        event_.begin = known(time_in(mark_.at, thread().exponent));
        if (mark_.frame < found_.frames.size()) {
            event_.name = found_.frames[mark_.frame].name;
            if (event_.phase == 'B') event_.category = found_.frames[mark_.frame].file;
        }
        event_.arguments = {};
        give();
    }
    void give() {
        constexpr std::uint64_t kBetween = 100'000;
        sink_->event(event_);
        if (++read_.events % kBetween == 0 && progress_)
            progress_((source_.source().size() + source_.source().consumed()) / 2, source_.source().size());
    }

    static constexpr std::size_t kDeepest = 16, kOfThread = 4, kMostArguments = 64, kMostThreads = 65'536,
                                 kMostNames = 1'000'000;
    static constexpr std::string_view kOff = "OffProcessor", kMerged = "OtherCalls";

  public:
    /// A thread's number from which on rows are none of a thread, as in rdam's export of trace events.
    static constexpr const char* kBesideThreads = "1099511627776";

  private:
    struct Mark {
        char phase = '\0';
        std::uint32_t frame = UINT32_MAX;
        std::string at;
    };

    chrome::JsonSource& source_;
    Found& found_;
    EventSink* sink_;
    const Progress& progress_;
    chrome::ReadEvents read_;
    std::vector<Where> open_;
    std::size_t deeper_ = 0;  // of what is open, beyond that
    std::string key_, column_, kind_, problem_;
    std::size_t threads_ = 0, strings_ = 0;  // so far
    std::size_t row_ = 0;
    ValueType type_ = ValueType::integer;
    std::uint64_t bits_ = 0;
    std::vector<Argument> arguments_;
    std::size_t count_ = 0;
    Mark mark_;
    Event event_;
    bool has_off_ = false, has_merged_ = false;
    std::string_view too_many_;
};
// NOLINTEND(readability-identifier-naming)

/// Errors: those of the file; JSON that is none.
Result<chrome::ReadEvents> walk(const std::string& path, Found& found, EventSink* sink,
                                const Progress& progress) {
    auto bytes = ByteSource::open(path);
    if (!bytes) return tl::unexpected{bytes.error()};
    chrome::JsonSource source{std::move(*bytes)};
    std::istream stream{&source};
    Walker walker{source, found, sink, progress};
    const bool complete = nlohmann::json::sax_parse(stream, &walker);
    if (auto bad = source.problem_of(path)) return tl::unexpected{*bad};
    if (!walker.too_many().empty())
        return fail("{} has more than {}: no tool writes so many", path, walker.too_many());
    if (!complete)
        return fail("{}: not sound as JSON, or cut: {}", path, chrome::plain_problem(walker.problem()));
    return walker.read();
}

void give_facts(const Found& found, EventSink& sink) {
    const auto give = [&](const char* name, const std::string& text) {
        if (!text.empty()) sink.fact({.name = name, .type = ValueType::text, .text = text});
    };
    give("recorder", found.recorder);
    give("command", found.command);
    if (found.is_export) give("rows_from_tid", Walker::kBesideThreads);
}

}  // namespace

bool recognizes(std::string_view beginning) {
    beginning = without_byte_order_mark(beginning);
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || beginning[first] != '{') return false;
    const auto has = [&](std::string_view part) { return beginning.find(part) != std::string_view::npos; };
    if (has("\"traceEvents\"")) return false;
    // Any order of the keys is right.
    return has("\"preprocessedProfileVersion\"") || has("speedscope.app/file-format-schema.json") ||
           (has("\"profiles\"") && has("\"evented\"")) || (has("\"shared\"") && has("\"frames\""));
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    Found found;
    if (auto looked = walk(path, found, nullptr, progress); !looked) return tl::unexpected{looked.error()};
    return chrome::read_through(path, [&](EventSink& sink) -> Result<chrome::ReadEvents> {
        give_facts(found, sink);
        auto events = walk(path, found, &sink, progress);
        if (!events || events->events > 0) return events;
        if (found.other_units > 0)
            return fail("{} has no call: its profiles are not of time, but of bytes or of nothing", path);
        return fail(
            "{} has samples, no calls: only intervals can be scored, which are the profiles of type evented "
            "in "
            "speedscope's files, and markers in Firefox's; give samples of perf to `rdam hot`",
            path);
    });
}

}  // namespace rdam::inputs::profiles
