// One line for each call (RFC 4180), in the order in which the calls of a thread end.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "tools/base/printable.h"

namespace rdam::exports {
namespace {

constexpr std::string_view kHeadLine =
    "thread,thread_name,module,function,begin_ns,end_ns,duration_ns,self_ns,lost_ns,baseline_ns,depth,"
    "processor,"
    "calls,end,sequence,parameters,result\r\n";

/// A text from the trace that a spreadsheet would take for a formula begins with an apostrophe.
std::string field(std::string_view text) {
    std::string safe = printable(text);
    if (!safe.empty() && std::string_view{"=+-@"}.find(safe.front()) != std::string_view::npos)
        safe.insert(safe.begin(), '\'');
    if (safe.find_first_of(",\"") == std::string::npos) return safe;
    std::string quoted = "\"";
    for (const char each : safe) {
        if (each == '"') quoted += '"';
        quoted += each;
    }
    return quoted + "\"";
}

class CsvCalls final : public views::CallVisitor {
  public:
    CsvCalls(const views::Visit& visit, std::uint32_t thread, Buffer& out, Written& written)
        : visit_(visit), out_(out), written_(written) {
        const trace::ThreadInfo& info = visit.info().threads[thread];
        thread_ = fmt::format("{},{},", info.tid, field(info.name));
    }

    void opened(const views::Opened& call) override {
        parameters_.resize(call.depth);
        parameters_.push_back(views::parameters_text(visit_.info(), call.function, call.words));
    }
    void closed(const views::Closed& call) override {
        const trace::FunctionInfo& function = visit_.info().functions[call.function];
        const double ns = visit_.clock().ns_per_tick;
        auto to = std::back_inserter(out_.text());
        fmt::format_to(to, "{}{},{},{},{},", thread_, field(function.module), field(function.name),
                       visit_.clock().since_origin(call.begin), visit_.clock().since_origin(call.tsc));
        if (call.timed) {
            fmt::format_to(to, "{:.3f},", call.duration * ns);
            if (std::isnan(call.self))
                fmt::format_to(to, ",");
            else
                fmt::format_to(to, "{:.3f},", call.self * ns);
            if (call.outermost)
                fmt::format_to(to, "{:.3f},{:.3f},", call.lost * ns, call.baseline * ns);
            else
                fmt::format_to(to, ",,");
        } else {
            fmt::format_to(to, ",,,,");
        }
        fmt::format_to(to, "{},", call.depth);
        if (call.cpu != trace::kNoCpu) fmt::format_to(to, "{}", call.cpu);
        fmt::format_to(to, ",{},{},", call.weight, calls::word_of(call.end));
        if (call.end != calls::End::not_seen) fmt::format_to(to, "{}", call.sequence);
        // field() would make a text of a negative number.
        const std::string result = views::result_text(visit_.info(), call.function, call.result);
        fmt::format_to(to, ",{},{}\r\n", field(parameters_.back()),
                       result.starts_with('"') ? field(result) : result);
        parameters_.pop_back();
        ++written_.calls;
        out_.full();
    }
    bool goes_on() const override { return out_.good(); }

  private:
    const views::Visit& visit_;
    Buffer& out_;
    Written& written_;
    std::string thread_;
    std::vector<std::string> parameters_;  // of the open calls
};

}  // namespace

Result<Written> write_csv(const views::Visit& visit, const Options& /*options*/, Sink& sink) {
    Buffer out{sink};
    Written written;
    out.append(kHeadLine);
    for (const std::uint32_t thread : visit.threads()) {
        CsvCalls calls{visit, thread, out, written};
        if (auto read = visit.thread(thread, calls); !read && out.good()) return tl::unexpected{read.error()};
    }
    return out.finish(written);
}

}  // namespace rdam::exports
