// Chrome's trace events, as in "Trace Event Format" (Google, 2016): complete events in microseconds, metadata
// and counters. Perfetto, chrome://tracing and others read them.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyzer/export/slices.h"
#include "tools/base/printable.h"
#include "tools/trace/event.h"

namespace rdam::exports {
namespace {

/// The first tid of each kind of rows. Viewers show the slices of one row nested, so what is not nested with
/// a thread's calls has a row of its own, which needs a tid of its own: that of the thread, or the
/// processor's number, from here on. Perfetto takes what is above 2^31 for no tid, and puts it into the row
/// of the main thread; Linux has no tid above 2^22.
enum class Row : std::uint32_t {
    off_cpu = 1U << 28,
    merged = 2U << 28,
    processor = 3U << 28,
    waits = 4U << 28
};

constexpr std::uint32_t tid_in(Row row, std::uint32_t number) {
    return static_cast<std::uint32_t>(row) + number;
}

/// Below it are the tids of threads, from it on those that are made up.
constexpr std::uint32_t kFirstMadeUp = 1U << 27;

/// A JSON string, quotes included.
std::string json_text(std::string_view text) {
    return nlohmann::json(printable(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with all digits of nanoseconds.
std::string microseconds(std::int64_t ns) {
    constexpr std::int64_t kOf = 1000;
    const char* const sign = ns < 0 ? "-" : "";
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    return fmt::format("{}{}.{:03}", sign, size / kOf, size % kOf);
}

/// One object after the other, each behind a comma: the file begins with one.
class JsonObjects {
  public:
    explicit JsonObjects(Buffer& out) : out_(out) {}

    template <class... Values>
    void event(fmt::format_string<Values...> format, Values&&... values) {
        out_.text() += ",\n{";
        fmt::format_to(std::back_inserter(out_.text()), format, std::forward<Values>(values)...);
        out_.text() += '}';
        out_.full();
    }
    void counter(const std::string& name, std::string_view unit, std::uint32_t pid,
                 std::span<const CounterPoint> points) {
        const std::string text = json_text(name);
        for (const CounterPoint& point : points)
            event(R"("ph":"C","name":{},"pid":{},"ts":{},"args":{{"{}":{:.3f}}})", text, pid,
                  microseconds(point.at), unit, point.value);
    }

  private:
    Buffer& out_;
};

/// What is the same for all threads.
struct JsonRun {
    explicit JsonRun(const views::Visit& visit)
        : info(visit.info()), clock(visit.clock()), pid(visit.info().process.pid) {
        for (const trace::FunctionInfo& function : info.functions)
            names.push_back(
                fmt::format(R"("name":{},"cat":{})", json_text(function.name), json_text(function.module)));
        // A tid that was used again is made another one, as viewers know threads by it alone.
        std::set<std::uint32_t> taken;
        std::uint32_t made_up = kFirstMadeUp;
        for (const trace::ThreadInfo& thread : info.threads)
            tids.push_back(thread.tid < kFirstMadeUp && taken.insert(thread.tid).second ? thread.tid
                                                                                        : made_up++);
    }

    const trace::TraceInfo& info;
    const trace::TimeScale& clock;
    std::uint32_t pid;
    std::vector<std::string> names;   ///< by function
    std::vector<std::uint32_t> tids;  ///< by thread
};

class JsonThread final : public ThreadSlices {
  public:
    JsonThread(const JsonRun& run, std::uint32_t thread, Buffer& out)
        : run_(run), objects_(out), tid_(run.tids[thread]) {
        const trace::ThreadInfo& info = run.info.threads[thread];
        name_ = info.name.empty() ? fmt::format("{}", info.tid) : info.name;
        named(tid_, name_);
    }
    void slice(const Slice& slice) override {
        std::string more;
        if (slice.scored)
            more += fmt::format(R"("lost_ns":{:.3f},"baseline_ns":{:.3f},)", slice.lost, slice.baseline);
        if (slice.weight > 1) more += fmt::format(R"("stands_for_calls":{},)", slice.weight);
        if (const std::string end = slice.odd_end(); !end.empty()) more += fmt::format(R"("end":"{}",)", end);
        if (const std::string text = views::parameters_text(run_.info, slice.function, slice.words);
            !text.empty())
            more += fmt::format(R"("parameters":{},)", json_text(text));
        if (const std::string text = views::result_text(run_.info, slice.function, slice.result);
            !text.empty())
            more += fmt::format(R"("result":{},)", json_text(text));
        if (!more.empty()) more.pop_back();
        objects_.event(R"("ph":"X",{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})",
                       run_.names[slice.function], run_.pid, tid_, microseconds(slice.begin),
                       microseconds(slice.end - slice.begin), more);
    }
    void off_cpu(std::int64_t begin, std::int64_t end, bool preempted) override {
        beside(Row::off_cpu, "off the processor", off_);
        objects_.event(R"("ph":"X","name":"{}","cat":"off the processor","pid":{},"tid":{},"ts":{},"dur":{})",
                       preempted ? "preempted" : "waits", run_.pid, tid_in(Row::off_cpu, tid_),
                       microseconds(begin), microseconds(end - begin));
    }
    void waited(const Waited& wait) override {
        beside(Row::waits, "who waits for whom", waits_);
        // Viewers draw an arrow from and to the slice around it, which must have a length, and from its begin.
        constexpr std::int64_t kMoment = 1;
        if (wait.waits)
            row_slice(wait.name, wait.begin, std::max(wait.end, wait.begin + kMoment),
                      fmt::format(R"("waited_ns":{:.0f})", wait.waited_ns));
        const std::int64_t at = wait.waits ? std::max(wait.end - kMoment, wait.begin) : wait.end;
        row_slice(wait.waits ? "goes on" : wait.name, at, at + kMoment, "");
        for (const std::uint64_t arrow : wait.arrows)
            objects_.event(
                R"("ph":"{}","name":"lets go on","cat":"who waits for whom","id":{},"pid":{},"tid":{},"ts":{}{})",
                wait.waits ? "f" : "s", arrow, run_.pid, tid_in(Row::waits, tid_), microseconds(at),
                // The slice around it, not the next one.
                wait.waits ? R"(,"bp":"e")" : "");
    }
    void merged(const MergedCalls& calls) override {
        beside(Row::merged, "other calls", merged_);
        objects_.event(
            R"("ph":"X","name":{},"cat":"merged","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"calls":{},"lost_ns":{:.3f},"time_ns":{:.3f}}})",
            json_text(fmt::format("{} calls, most time in {}", calls.calls,
                                  run_.info.functions[calls.function].name)),
            run_.pid, tid_in(Row::merged, tid_), microseconds(calls.begin),
            microseconds(calls.end - calls.begin), calls.calls, calls.lost, calls.time);
    }
    void lost(std::span<const CounterPoint> points) override {
        objects_.counter(fmt::format("lost time, {} {}", tid_, name_), "lost_ns", run_.pid, points);
    }

  private:
    void named(std::uint32_t tid, const std::string& name) {
        objects_.event(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}})", run_.pid,
                       tid, json_text(name));
    }
    void row_slice(std::string_view name, std::int64_t begin, std::int64_t end, const std::string& args) {
        objects_.event(
            R"("ph":"X","name":{},"cat":"who waits for whom","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})",
            json_text(name), run_.pid, tid_in(Row::waits, tid_), microseconds(begin),
            microseconds(end - begin), args);
    }
    void beside(Row row, std::string_view what, bool& there) {
        if (!there) named(tid_in(row, tid_), fmt::format("{} {}: {}", tid_, name_, what));
        there = true;
    }

    const JsonRun& run_;
    JsonObjects objects_;
    std::uint32_t tid_;
    std::string name_;
    bool off_ = false, merged_ = false, waits_ = false;  // these rows are there
};

/// Whose run it was; and from which tid on rows are none of a thread, for readers that take rows for threads
/// (rdam's own: analyzer/inputs/chrome).
std::string about(const trace::ProcessInfo& process) {
    const nlohmann::json about{{"recorder", printable(trace::recorded_with(process))},
                               {"command", printable(fmt::format("{}", fmt::join(process.command, " ")))},
                               {"host", printable(process.host)},
                               {"rows_from_tid", tid_in(Row::off_cpu, 0)}};
    return about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class JsonSlices final : public SliceWriter {
  public:
    explicit JsonSlices(const views::Visit& visit) : run_(visit) {}

    void begin(Buffer& out) override {
        out.append(fmt::format(
            R"({{"displayTimeUnit":"ns","otherData":{},"traceEvents":[
{{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})",
            about(run_.info.process), run_.pid, json_text(views::program_name(run_.info))));
    }
    std::unique_ptr<ThreadSlices> thread(std::uint32_t thread, Buffer& out) override {
        return std::make_unique<JsonThread>(run_, thread, out);
    }
    void inside(std::span<const CounterPoint> points, Buffer& out) override {
        JsonObjects{out}.counter("threads inside calls", "threads", run_.pid, points);
    }
    void processor(std::span<const OnProcessor> calls, Buffer& out) override {
        JsonObjects objects{out};
        const std::uint32_t row = tid_in(Row::processor, calls.front().cpu);
        objects.event(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"processor {}"}})",
                      run_.pid, row, calls.front().cpu);
        for (const OnProcessor& each : calls) {
            const std::int64_t begin = run_.clock.since_origin(each.begin);
            const std::int64_t end = run_.clock.since_origin(each.end);
            objects.event(
                R"("ph":"X","name":{},"cat":"on a processor","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"thread":{}}})",
                json_text(run_.info.functions[each.function].name), run_.pid, row, microseconds(begin),
                microseconds(end - begin), run_.info.threads[each.thread].tid);
        }
    }
    void end(Buffer& out) override { out.append("\n]}\n"); }

  private:
    JsonRun run_;
};

}  // namespace

Result<Written> write_json(const views::Visit& visit, const Options& options, Sink& sink) {
    JsonSlices writer{visit};
    return write_slices(visit, options, writer, sink);
}

}  // namespace rdam::exports
