// The Firefox Profiler's processed profile: of each thread its calls as markers, and what they lost as the
// weights of samples.
//
// Memory: of one thread at a time, for each slice 48 bytes and the text of a marker and a sample (some 200
// bytes, its parameters shortened), and the stacks of all threads: no more of them than slices. That is some
// 60 MB with the usual budget, and 600 MB with the largest. All else is written as it comes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/slices.h"
#include "analyzer/export/stacks.h"
#include "tools/base/printable.h"
#include "tools/trace/event.h"

namespace rdam::exports::firefox {
namespace {

// The tables of a profile of the Firefox Profiler, in version 61 of its processed format: objects of columns.
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md
//
// Of an older version, stacks and functions would be in each thread again; a newer one has nothing for us,
// and is refused by viewers that somebody has installed meanwhile, while each viewer upgrades an older one.

inline constexpr int kVersion = 61;

/// Indices into Profile::meta.categories.
enum Category : std::uint32_t { kCalls, kOther, kOffProcessor };

/// Milliseconds with all digits of nanoseconds; what was before the run's start is at its start.
std::string milliseconds(std::int64_t ns);
/// … of a duration; 0 for what is no number.
std::string milliseconds(double ns);

/// One table. Takes as much memory as its text.
class Table {
  public:
    Table(std::initializer_list<std::string_view> columns) {
        for (const std::string_view name : columns)
            columns_.emplace_back(name, std::string{});
    }

    /// A JSON value for each column: texts are taken as they are. The row's number.
    template <class... Values>
    std::uint32_t add(const Values&... values) {
        std::size_t column = 0;
        (append(columns_[column++].second, values), ...);
        return rows_++;
    }
    std::uint32_t rows() const { return rows_; }
    /// `more`: members of the object, each with a comma after it. The table is empty afterwards.
    void write(Buffer& out, std::string_view more = "");

  private:
    template <class Value>
    void append(std::string& text, const Value& value) {
        if (rows_ > 0) text += ',';
        fmt::format_to(std::back_inserter(text), "{}", value);
    }

    std::vector<std::pair<std::string_view, std::string>> columns_;
    std::uint32_t rows_ = 0;
};

/// What all threads refer to. Grows with the functions that are used, and by a stack for each new call path.
class Shared {
  public:
    explicit Shared(const trace::TraceInfo& info);

    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// Of the string table.
    std::uint32_t string(const std::string& text);
    std::uint32_t name_of(std::uint32_t function);

    /// `function` called from `parent` (a stack; kNone: from nowhere).
    std::uint32_t stack(std::uint32_t parent, std::uint32_t function);
    /// Below which are the calls that are no samples of their own.
    std::uint32_t other_calls();
    std::uint32_t stacks() const { return stacks_.rows(); }

    void write(Buffer& out);

  private:
    std::uint32_t frame_of(std::uint32_t function);
    std::uint32_t resource_of(const std::string& module);
    /// JSON values of the columns source and lineNumber.
    std::pair<std::string, std::string> place_of(const std::string& source);
    std::uint32_t add_frame(std::uint32_t name, std::string_view resource, const std::string& source,
                            Category category);
    std::uint32_t child(std::uint32_t parent, std::uint32_t frame);

    const trace::TraceInfo& info_;
    std::vector<std::uint32_t> frames_of_;  // by function; kNone: not yet
    std::uint32_t other_frame_ = kNone;
    std::unordered_map<std::string, std::uint32_t> string_numbers_, resource_numbers_, source_numbers_;
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and frame
    std::string strings_;                                        // JSON values
    // Each function has one frame, of its own number.
    Table functions_, frames_, stacks_, resources_, sources_;
};

/// What ResourceType calls a library.
constexpr int kLibrary = 1;

/// A JSON string, quotes included, of what printable() makes of the text.
std::string json_string(std::string_view text) {
    return nlohmann::json(printable(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string milliseconds(std::int64_t ns) {
    constexpr std::int64_t kOf = 1'000'000;
    const std::int64_t from_start = std::max<std::int64_t>(ns, 0);
    return fmt::format("{}.{:06}", from_start / kOf, from_start % kOf);
}

std::string milliseconds(double ns) {
    constexpr double kOf = 1e6;
    return std::isfinite(ns) ? fmt::format("{:.6f}", ns / kOf) : "0";
}

void Table::write(Buffer& out, std::string_view more) {
    out.append(fmt::format("{{{}\"length\":{}", more, rows_));
    for (auto& [name, text] : columns_) {
        out.append(fmt::format(",\"{}\":[", name));
        out.append(text);
        out.append("]");
        text = {};
    }
    out.append("}");
    rows_ = 0;
}

Shared::Shared(const trace::TraceInfo& info)
    : info_(info),
      frames_of_(info.functions.size(), kNone),
      functions_{"name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"},
      frames_{"address",      "inlineDepth",   "category", "subcategory", "func",
              "nativeSymbol", "innerWindowID", "line",     "column"},
      stacks_{"frame", "prefix"},
      resources_{"lib", "name", "host", "type"},
      sources_{"id", "filename", "startLine", "startColumn", "sourceMapURL"} {}

std::uint32_t Shared::string(const std::string& text) {
    const auto [known, is_new] =
        string_numbers_.emplace(text, static_cast<std::uint32_t>(string_numbers_.size()));
    if (is_new) strings_ += (strings_.empty() ? "" : ",") + json_string(text);
    return known->second;
}

std::uint32_t Shared::name_of(std::uint32_t function) {
    return string(frame_name(info_, {.function = function}));
}

std::uint32_t Shared::resource_of(const std::string& module) {
    const auto [known, is_new] = resource_numbers_.emplace(module, resources_.rows());
    if (is_new) resources_.add("null", string(module), "null", kLibrary);
    return known->second;
}

std::pair<std::string, std::string> Shared::place_of(const std::string& source) {
    if (source.empty()) return {"null", "null"};
    const std::size_t colon = source.rfind(':');
    const std::string file = source.substr(0, colon);
    const std::string line = colon == std::string::npos ? "" : source.substr(colon + 1);
    const auto [known, is_new] = source_numbers_.emplace(file, sources_.rows());
    if (is_new) sources_.add("null", string(file), 1, 1, "null");
    constexpr std::size_t kMaxDigits = 9;
    const bool is_line = !line.empty() && line.size() <= kMaxDigits && line.front() != '0' &&
                         line.find_first_not_of("0123456789") == std::string::npos;
    return {fmt::format("{}", known->second), is_line ? line : "null"};
}

std::uint32_t Shared::add_frame(std::uint32_t name, std::string_view resource, const std::string& source,
                                Category category) {
    const auto [file, line] = place_of(source);
    const std::uint32_t number = functions_.add(name, "false", "false", resource, file, line, "null");
    return frames_.add(-1, 0, static_cast<std::uint32_t>(category), 0, number, "null", 0, "null", "null");
}

std::uint32_t Shared::frame_of(std::uint32_t function) {
    std::uint32_t& frame = frames_of_[function];
    if (frame != kNone) return frame;
    const trace::FunctionInfo& info = info_.functions[function];
    const std::string resource = info.module.empty() ? "-1" : fmt::format("{}", resource_of(info.module));
    frame = add_frame(name_of(function), resource, info.source, kCalls);
    return frame;
}

std::uint32_t Shared::child(std::uint32_t parent, std::uint32_t frame) {
    constexpr unsigned kHalf = 32;
    const auto [known, is_new] = children_.emplace(std::uint64_t{parent} << kHalf | frame, stacks_.rows());
    if (is_new) stacks_.add(frame, parent == kNone ? "null" : fmt::format("{}", parent));
    return known->second;
}

std::uint32_t Shared::stack(std::uint32_t parent, std::uint32_t function) {
    return child(parent, frame_of(function));
}

std::uint32_t Shared::other_calls() {
    if (other_frame_ == kNone) other_frame_ = add_frame(string(kMergedName), "-1", "", kOther);
    return child(kNone, other_frame_);
}

void Shared::write(Buffer& out) {
    const auto table = [&](std::string_view name, Table& which) {
        out.append(fmt::format("\"{}\":", name));
        which.write(out);
        out.append(",");
    };
    Table symbols{"libIndex", "address", "name", "functionSize"};
    out.append("{");
    table("stackTable", stacks_);
    table("frameTable", frames_);
    table("funcTable", functions_);
    table("resourceTable", resources_);
    table("nativeSymbols", symbols);
    table("sources", sources_);
    out.append("\"stringArray\":[");
    out.append(strings_);
    out.append("]}");
}

}  // namespace
}  // namespace rdam::exports::firefox

namespace rdam::exports {
namespace firefox {
namespace {

using MetaJson = nlohmann::ordered_json;

/// MarkerPhase of those with a begin and an end.
constexpr int kInterval = 1;

/// The kinds of markers: their names, and what is shown of them.
constexpr const char *kCall = "Call", *kOff = "OffProcessor", *kMergedCalls = "OtherCalls";

MetaJson marker_field(const char* key, const char* label, const char* format) {
    return {{"key", key}, {"label", label}, {"format", format}};
}

MetaJson marker_schema() {
    const MetaJson where = MetaJson::array({"marker-chart", "marker-table"});
    MetaJson calls = {{"name", kCall},
                      {"tooltipLabel", "{marker.name}"},
                      {"tableLabel", "{marker.data.parameters}"},
                      {"chartLabel", "{marker.name}"},
                      {"display", where},
                      {"description", "A call of a recorded function."},
                      {"isStackBased", true}};
    calls["fields"] = MetaJson::array(
        {marker_field("lost", "Lost", "duration"), marker_field("baseline", "Baseline", "duration"),
         marker_field("parameters", "Parameters", "string"), marker_field("result", "Return value", "string"),
         marker_field("stands_for", "Stands for calls", "integer"), marker_field("end", "End", "string")});
    MetaJson off = {{"name", kOff},
                    {"tableLabel", "{marker.data.why}"},
                    {"chartLabel", "{marker.data.why}"},
                    {"display", where},
                    {"description", "The thread was not on a processor."}};
    off["fields"] = MetaJson::array({marker_field("why", "Why", "string")});
    MetaJson merged = {{"name", kMergedCalls},
                       {"tableLabel", "{marker.data.calls} calls, most time in {marker.data.most}"},
                       {"chartLabel", "{marker.data.calls} calls, most time in {marker.data.most}"},
                       {"display", where},
                       {"description", "Calls that are not shown one by one."}};
    merged["fields"] = MetaJson::array(
        {marker_field("calls", "Calls", "integer"), marker_field("lost", "Lost", "duration"),
         marker_field("time", "Time", "duration"), marker_field("most", "Most time in", "unique-string")});
    return MetaJson::array({calls, off, merged});
}

MetaJson category(const char* name, const char* color) {
    return {{"name", name}, {"color", color}, {"subcategories", MetaJson::array({"Other"})}};
}

std::string meta(const views::Visit& visit) {
    const trace::ProcessInfo& process = visit.info().process;
    const trace::ClockInfo& clock = visit.info().clock;
    constexpr double kOf = 1e6;
    // The clock's own start is where the wall clock was read, the run's is another.
    const double origin = static_cast<double>(clock.start_unix_ns) -
                          static_cast<double>(visit.clock().since_origin(clock.start_tsc));
    std::string arguments;
    for (const std::string& word : process.command)
        arguments += (arguments.empty() ? "" : " ") + word;
    MetaJson json = {{"preprocessedProfileVersion", kVersion},
                     {"version", 0},  // not made from a profile of Firefox
                     {"product", printable(views::program_name(visit.info()))},
                     {"importedFrom", printable(trace::recorded_with(process))},
                     {"arguments", printable(arguments)},
                     {"oscpu", printable(process.machine)},
                     {"logicalCPUs", process.processors},
                     {"startTime", std::max(origin / kOf, 0.0)},
                     {"interval", 0.001},
                     {"processType", 0},
                     {"stackwalk", 1},
                     {"symbolicated", true},
                     {"usesOnlyOneStackType", true},
                     {"sourceCodeIsNotOnSearchfox", true},
                     {"keepProfileThreadOrder", true}};
    json["categories"] = MetaJson::array(
        {category("Calls", "blue"), category("Other", "grey"), category("Off the processor", "transparent")});
    json["markerSchema"] = marker_schema();
    return json.dump(-1, ' ', false, MetaJson::error_handler_t::replace);
}

/// What the threads have in common.
struct Profile {
    Profile(const views::Visit& own_visit, PathWeight own_weight)
        : visit(own_visit), weight(own_weight), shared(own_visit.info()) {}

    const views::Visit& visit;
    PathWeight weight;
    Shared shared;
    WholeWeights weights;
    std::set<std::uint32_t> tids;
    bool first = true;  ///< no thread has been written yet
};

class FirefoxThread final : public ThreadSlices {
  public:
    FirefoxThread(Profile& profile, std::uint32_t thread, Buffer& out)
        : profile_(profile),
          visit_(profile.visit),
          weight_(profile.weight),
          shared_(profile.shared),
          number_(thread),
          out_(out) {}

    void slice(const Slice& slice) override {
        std::string more = fmt::format("{{\"type\":\"{}\"", kCall);
        if (slice.scored)
            more += fmt::format(R"(,"lost":{},"baseline":{})", milliseconds(slice.lost),
                                milliseconds(slice.baseline));
        add_text("parameters", views::parameters_text(visit_.info(), slice.function, slice.words), more);
        add_text("result", views::result_text(visit_.info(), slice.function, slice.result), more);
        if (slice.weight > 1) more += fmt::format(",\"stands_for\":{}", slice.weight);
        add_text("end", slice.odd_end(), more);
        marker(shared_.name_of(slice.function), slice.begin, slice.end, kCalls, more + "}");
        const auto weight = static_cast<double>(slice.weight);
        calls_.push_back({.function = slice.function,
                          .depth = slice.depth,
                          .at = slice.end,
                          .weight = weight_ == PathWeight::lost   ? slice.lost_self * weight
                                    : weight_ == PathWeight::time ? slice.self * weight
                                                                  : weight});
    }
    void off_cpu(std::int64_t begin, std::int64_t end, bool preempted) override {
        marker(shared_.string("off the processor"), begin, end, kOffProcessor,
               fmt::format(R"({{"type":"{}","why":"{}"}})", kOff, preempted ? "preempted" : "waits"));
    }
    void merged(const MergedCalls& calls) override {
        marker(shared_.string("other calls"), calls.begin, calls.end, kOther,
               fmt::format(R"({{"type":"{}","calls":{},"lost":{},"time":{},"most":{}}})", kMergedCalls,
                           calls.calls, milliseconds(calls.lost), milliseconds(calls.time),
                           shared_.name_of(calls.function)));
        samples_.push_back({.stack = shared_.stack(shared_.other_calls(), calls.function),
                            .at = calls.end,
                            .weight = weight_ == PathWeight::lost   ? calls.lost_self
                                      : weight_ == PathWeight::time ? calls.self
                                                                    : static_cast<double>(calls.weight)});
    }
    // There are no counters but of sizes and rates.
    void lost(std::span<const CounterPoint> /*points*/) override {}

    void end() override {
        find_stacks();
        profile_.weights.make_whole(samples_, shared_.stacks());
        // Viewers look for the profile's ends among the samples of a thread alone.
        const std::int64_t begin = visit_.clock().since_origin(visit_.span().begin);
        const std::int64_t end = visit_.clock().since_origin(visit_.span().end);
        table_.add("null", milliseconds(begin), 0);
        for (const Sample& sample : samples_)
            add_sample({sample.stack, std::clamp(sample.at, begin, end), sample.weight});
        table_.add("null", milliseconds(end), 0);
        samples_ = {};
        const bool is_calls = weight_ == PathWeight::calls;
        out_.append((profile_.first ? "\n" : ",\n") + description() + ",\"samples\":");
        profile_.first = false;
        table_.write(out_, is_calls ? R"("weightType":"samples",)" : R"("weightType":"tracing-ms",)");
        out_.append(",\"markers\":");
        markers_.write(out_);
        out_.append("}");
    }

  private:
    struct Call {
        std::uint32_t function = 0, depth = 0;
        std::int64_t at = 0;
        double weight = 0;
    };

    static void add_text(const char* key, const std::string& text, std::string& json) {
        // A trace may claim parameters with names of any length.
        constexpr std::size_t kMost = 500;
        if (!text.empty())
            json += fmt::format(",\"{}\":{}", key, json_string(shortened(printable(text), kMost)));
    }
    void marker(std::uint32_t name, std::int64_t begin, std::int64_t end, Category category,
                const std::string& data) {
        markers_.add(data, name, milliseconds(begin), milliseconds(end), kInterval,
                     static_cast<std::uint32_t>(category));
    }

    /// The calls come after those inside them: backwards, each comes after the one around it.
    void find_stacks() {
        std::vector<std::uint32_t> open;
        std::vector<Sample> samples(calls_.size());
        for (std::size_t i = calls_.size(); i-- > 0;) {
            const Call& call = calls_[i];
            open.resize(call.depth + std::size_t{1}, Shared::kNone);
            const std::uint32_t parent = call.depth > 0 ? open[call.depth - 1] : Shared::kNone;
            open[call.depth] = shared_.stack(parent, call.function);
            samples[i] = {open[call.depth], call.at, call.weight};
        }
        calls_ = {};
        samples_.insert(samples_.begin(), samples.begin(), samples.end());
        std::ranges::stable_sort(samples_, {}, &Sample::at);
    }

    void add_sample(const Sample& sample) {
        const auto weight = static_cast<std::int64_t>(sample.weight);
        if (weight == 0) return;
        if (weight_ == PathWeight::calls)
            table_.add(sample.stack, milliseconds(sample.at), weight);
        else
            table_.add(sample.stack, milliseconds(sample.at), milliseconds(weight));
    }

    /// An object's beginning. A tid that was used again is made another one, as viewers know threads by it.
    std::string description() {
        const trace::ThreadInfo& info = visit_.info().threads[number_];
        const std::uint32_t pid = visit_.info().process.pid;
        const bool is_new = profile_.tids.insert(info.tid).second;
        const std::string tid =
            is_new ? fmt::format("{}", info.tid) : fmt::format("\"{}.{}\"", info.tid, number_);
        // The viewer shows no tid beside a name, and all threads of a program may have the same.
        const std::string name =
            info.name.empty() ? fmt::format("{}", info.tid) : fmt::format("{} {}", info.tid, info.name);
        const auto time_of = [&](std::uint64_t tsc) {
            return milliseconds(visit_.clock().since_origin(tsc));
        };
        return fmt::format(
            R"({{"processType":"default","processName":{},"processStartupTime":0,"processShutdownTime":null,)"
            R"("registerTime":{},"unregisterTime":{},"pausedRanges":[],"name":{},"isMainThread":{},)"
            R"("pid":"{}","tid":{})",
            json_string(views::program_name(visit_.info())), info.start == 0 ? "0" : time_of(info.start),
            info.end == 0 ? "null" : time_of(info.end), json_string(name), is_new && info.tid == pid, pid,
            tid);
    }

    Profile& profile_;
    const views::Visit& visit_;
    const PathWeight weight_;
    Shared& shared_;
    std::uint32_t number_;
    Buffer& out_;
    std::vector<Call> calls_;
    std::vector<Sample> samples_;
    Table markers_{"data", "name", "startTime", "endTime", "phase", "category"};
    Table table_{"stack", "time", "weight"};
};

class FirefoxSlices final : public SliceWriter {
  public:
    FirefoxSlices(const views::Visit& visit, PathWeight weight) : profile_(visit, weight) {}

    void begin(Buffer& out) override {
        out.append("{\"meta\":" + meta(profile_.visit) + ",\"libs\":[],\"threads\":[");
    }
    std::unique_ptr<ThreadSlices> thread(std::uint32_t thread, Buffer& out) override {
        return std::make_unique<FirefoxThread>(profile_, thread, out);
    }
    /// They share the table of stacks.
    bool one_by_one() const override { return true; }
    bool draws_processors() const override { return false; }
    void inside(std::span<const CounterPoint> /*points*/, Buffer& /*out*/) override {}
    void end(Buffer& out) override {
        out.append("],\"shared\":");
        profile_.shared.write(out);
        out.append("}\n");
    }

  private:
    Profile profile_;
};

}  // namespace
}  // namespace firefox

Result<Written> write_firefox(const views::Visit& visit, const Options& options, Sink& sink) {
    firefox::FirefoxSlices writer{visit, options.weight};
    return write_slices(visit, options, writer, sink);
}

}  // namespace rdam::exports
