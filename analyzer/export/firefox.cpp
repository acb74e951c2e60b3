// The Firefox Profiler's processed profile: of each thread its calls as markers, and what they lost as the
// weights of samples.
//
// Memory: of one thread at a time, for each slice 48 bytes and the text of a marker and a sample (some 200
// bytes, its parameters shortened), and the stacks of all threads: no more of them than slices. That is some
// 60 MB with the usual budget, and 600 MB with the largest. All else is written as it comes.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "analyzer/export/firefox_samples.h"
#include "analyzer/export/firefox_tables.h"
#include "analyzer/export/slices.h"
#include "tools/base/printable.h"

namespace rdam::formats {
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

}  // namespace rdam::formats
