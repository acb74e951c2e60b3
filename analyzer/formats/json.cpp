// Chrome's trace events, as in "Trace Event Format" (Google, 2016): complete events in microseconds, metadata
// and counters. Perfetto, chrome://tracing and others read them.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyzer/formats/slices.h"
#include "wrappers/support/printable.h"

namespace rdam::formats {
namespace {

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

class JsonSlices final : public SliceWriter {
  public:
    JsonSlices(const views::Visit& visit, Buffer& out) : visit_(visit), out_(out) {
        for (const trace::FunctionInfo& function : visit.info().functions)
            names_.push_back(
                fmt::format(R"("name":{},"cat":{})", json_text(function.name), json_text(function.module)));
    }

    void begin() override {
        out_.append(R"({"displayTimeUnit":"ns","traceEvents":[)");
        event(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":{}}})", pid(),
              json_text(views::program_name(visit_.info())));
    }
    /// A tid that was used again is made another one, as viewers know threads by it alone.
    void thread(std::uint32_t thread) override {
        const trace::ThreadInfo& info = visit_.info().threads[thread];
        constexpr std::uint64_t kOfSame = 10'000'000;
        tid_ = info.tid;
        while (!tids_.insert(tid_).second)
            tid_ += kOfSame;
        name_ = info.name.empty() ? fmt::format("{}", info.tid) : info.name;
        event(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}})", pid(), tid_,
              json_text(name_));
    }
    void slice(const Slice& slice) override {
        const trace::FunctionInfo& function = visit_.info().functions[slice.function];
        std::string more;
        if (slice.scored)
            more += fmt::format(R"("lost_ns":{:.3f},"baseline_ns":{:.3f},)", slice.lost, slice.baseline);
        if (slice.weight > 1) more += fmt::format(R"("stands_for_calls":{},)", slice.weight);
        if (slice.how == views::End::not_seen) more += R"("end":"not seen",)";
        if (slice.how == views::End::unwound) more += R"("end":"unwound",)";
        if (const std::string text = views::parameters_text(function, slice.words); !text.empty())
            more += fmt::format(R"("parameters":{},)", json_text(text));
        if (const std::string text = views::result_text(function, slice.result); !text.empty())
            more += fmt::format(R"("result":{},)", json_text(text));
        if (!more.empty()) more.pop_back();
        event(R"("ph":"X",{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})", names_[slice.function],
              pid(), tid_, microseconds(slice.begin), microseconds(slice.end - slice.begin), more);
    }
    void off_cpu(std::int64_t begin, std::int64_t end, bool preempted) override {
        beside(kOff, "off the processor");
        event(R"("ph":"X","name":"{}","cat":"off the processor","pid":{},"tid":{},"ts":{},"dur":{})",
              preempted ? "preempted" : "waits", pid(), tid_ + kOff, microseconds(begin),
              microseconds(end - begin));
    }
    void merged(const MergedCalls& calls) override {
        beside(kMerged, "other calls");
        event(
            R"("ph":"X","name":{},"cat":"merged","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"calls":{},"lost_ns":{:.3f},"time_ns":{:.3f}}})",
            json_text(fmt::format("{} calls, most time in {}", calls.calls,
                                  visit_.info().functions[calls.function].name)),
            pid(), tid_ + kMerged, microseconds(calls.begin), microseconds(calls.end - calls.begin),
            calls.calls, calls.lost, calls.time);
    }
    void lost(std::span<const CounterPoint> points) override {
        counter(fmt::format("lost time, {} {}", tid_, name_), "lost_ns", points);
    }
    void inside(std::span<const CounterPoint> points) override {
        counter("threads inside calls", "threads", points);
    }
    void end() override { out_.append("\n]}\n"); }
    bool good() const override { return out_.good(); }

  private:
    // Rows beside a thread's own, as viewers show slices of one row nested.
    static constexpr std::uint64_t kOff = 100'000'000'000, kMerged = 200'000'000'000;

    template <class... Values>
    void event(fmt::format_string<Values...> format, Values&&... values) {
        out_.text() += first_ ? "\n{" : ",\n{";
        first_ = false;
        fmt::format_to(std::back_inserter(out_.text()), format, std::forward<Values>(values)...);
        out_.text() += '}';
        out_.full();
    }
    void beside(std::uint64_t which, std::string_view what) {
        if (!tids_.insert(tid_ + which).second) return;
        event(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}})", pid(), tid_ + which,
              json_text(fmt::format("{} {}: {}", tid_, name_, what)));
    }
    void counter(const std::string& name, std::string_view unit, std::span<const CounterPoint> points) {
        const std::string text = json_text(name);
        for (const CounterPoint& point : points)
            event(R"("ph":"C","name":{},"pid":{},"ts":{},"args":{{"{}":{:.3f}}})", text, pid(),
                  microseconds(point.at), unit, point.value);
    }
    std::uint32_t pid() const { return visit_.info().process.pid; }

    const views::Visit& visit_;
    Buffer& out_;
    std::vector<std::string> names_;  // by function
    std::set<std::uint64_t> tids_;
    std::uint64_t tid_ = 0;
    std::string name_;
    bool first_ = true;
};

}  // namespace

Result<Written> write_json(const views::Visit& visit, const Options& options, Sink& sink) {
    Buffer out{sink};
    JsonSlices writer{visit, out};
    const auto written = write_slices(visit, options, writer);
    if (!written) return written;
    return out.finish(*written);
}

}  // namespace rdam::formats
