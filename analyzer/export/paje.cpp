// A Pajé trace (L. M. Schnorr, Pajé trace file format, version 1.2.5), as pj_dump and ViTE read it:
// containers for the process and its threads, states for calls and for times off the processor. Its events
// are in the order of time, so threads are written to a file of their own first and then merged.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/trace/event.h"

namespace rdam::exports {
namespace {

constexpr std::string_view kDefinitions = R"(%EventDef PajeDefineContainerType 0
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineEntityValue 2
%  Alias string
%  Type string
%  Name string
%  Color color
%EndEventDef
%EventDef PajeCreateContainer 3
%  Time date
%  Alias string
%  Type string
%  Container string
%  Name string
%EndEventDef
%EventDef PajeDestroyContainer 4
%  Time date
%  Name string
%  Type string
%EndEventDef
%EventDef PajePushState 5
%  Time date
%  Type string
%  Container string
%  Value string
%EndEventDef
%EventDef PajePopState 6
%  Time date
%  Type string
%  Container string
%EndEventDef
0 P 0 "Process"
0 T P "Thread"
1 C T "Call"
1 O T "Off the processor"
2 waits O "waits" "0.5 0.5 0.5"
2 preempted O "preempted" "0.84 0.37 0.0"
)";

/// The format has no escape: quotes become apostrophes.
std::string name_text(std::string_view text) {
    std::string safe = printable(text);
    std::replace(safe.begin(), safe.end(), '"', '\'');
    return "\"" + safe + "\"";
}

std::string seconds(std::int64_t ns) {
    constexpr std::int64_t kOf = 1'000'000'000;
    return fmt::format("{}.{:09}", ns / kOf, ns % kOf);
}

struct Record {
    std::int64_t ns = 0;
    std::uint32_t function = 0;  ///< kPop, kWaits …: no function
    std::uint32_t kind = 0;
};
enum Kind : std::uint32_t { kPush, kPop, kWaits, kPreempted, kOn };

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Threads one after the other in a temporary file, each in the order of time.
class Spool final : public views::CallVisitor {
  public:
    /// `file`: a temporary one, open for reading and writing.
    Spool(const views::Visit& visit, File file)
        : visit_(visit), file_(std::move(file)), ticks_(visit.info().functions.size()) {}

    bool good() const { return file_ != nullptr && std::ferror(file_.get()) == 0; }
    bool goes_on() const override { return good(); }

    void opened(const views::Opened& call) override { add({since(call.tsc), call.function, kPush}); }
    void closed(const views::Closed& call) override {
        add({since(call.tsc), call.function, kPop});
        ticks_[call.function] += call.tsc - call.begin;
        ++calls_;
    }
    void end_part() { parts_.push_back(written_); }
    void add(const Record& record) {
        std::fwrite(&record, sizeof record, 1, file_.get());
        ++written_;
    }
    std::int64_t since(std::uint64_t tsc) const {
        return std::max<std::int64_t>(visit_.clock().since_origin(tsc), 0);
    }
    std::uint64_t calls() const { return calls_; }
    /// What the calls of each function took.
    const std::vector<std::uint64_t>& ticks() const { return ticks_; }
    /// The record after each part's last.
    const std::vector<std::uint64_t>& parts() const { return parts_; }
    std::FILE* file() const { return file_.get(); }

  private:
    const views::Visit& visit_;
    File file_;
    std::vector<std::uint64_t> parts_;
    std::vector<std::uint64_t> ticks_;
    std::uint64_t written_ = 0, calls_ = 0;
};

/// Reads one part of the spool, some records at a time.
class Part {
  public:
    Part(std::FILE* file, std::uint64_t from, std::uint64_t to) : file_(file), next_(from), end_(to) {}

    /// Null: there are no more, or the file cannot be read.
    const Record* front() {
        if (at_ == records_.size() && !fill()) return nullptr;
        return &records_[at_];
    }
    void pop() { ++at_; }

  private:
    bool fill() {
        constexpr std::uint64_t kAtOnce = 2048;
        records_.resize(std::min(kAtOnce, end_ - next_));
        at_ = 0;
        if (records_.empty()) return false;
        if (std::fseek(file_, static_cast<long>(next_ * sizeof(Record)), SEEK_SET) != 0 ||
            std::fread(records_.data(), sizeof(Record), records_.size(), file_) != records_.size()) {
            records_.clear();
            return false;
        }
        next_ += records_.size();
        return true;
    }

    std::FILE* file_;
    std::uint64_t next_, end_;
    std::vector<Record> records_;
    std::size_t at_ = 0;
};

/// Functions from the one with most time on: there are few colours, and they shall tell apart what is seen
/// most.
std::vector<std::size_t> by_time(const std::vector<std::uint64_t>& ticks) {
    std::vector<std::size_t> order(ticks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return ticks[a] > ticks[b]; });
    return order;
}

void write_header(const views::Visit& visit, const Spool& spool, Buffer& out) {
    out.append(kDefinitions);
    // Colours that colour-blind readers can tell apart (M. Okabe, K. Ito, 2008); the seventh means preempted.
    constexpr std::string_view kColours[] = {"0.34 0.71 0.91", "0.90 0.62 0.0",  "0.0 0.62 0.45",
                                             "0.80 0.47 0.65", "0.94 0.89 0.26", "0.0 0.45 0.70"};
    std::size_t colour = 0;
    for (const std::size_t f : by_time(spool.ticks()))
        out.append(fmt::format("2 f{} C {} \"{}\"\n", f, name_text(visit.info().functions[f].name),
                               kColours[colour++ % std::size(kColours)]));
    const std::string begin =
        seconds(std::max<std::int64_t>(visit.clock().since_origin(visit.span().begin), 0));
    out.append(fmt::format(
        "3 {} p P 0 {}\n", begin,
        name_text(fmt::format("{} {}", visit.info().process.pid, views::program_name(visit.info())))));
    for (const std::uint32_t t : visit.threads()) {
        const trace::ThreadInfo& thread = visit.info().threads[t];
        out.append(fmt::format("3 {} t{} T p {}\n", begin, t, name_text(trace::thread_label(thread, t))));
    }
}

void write_record(const Record& record, std::uint32_t thread, Buffer& out) {
    auto to = std::back_inserter(out.text());
    const std::string time = seconds(record.ns);
    switch (record.kind) {
        case kPush:
            fmt::format_to(to, "5 {} C t{} f{}\n", time, thread, record.function);
            break;
        case kPop:
            fmt::format_to(to, "6 {} C t{}\n", time, thread);
            break;
        case kOn:
            fmt::format_to(to, "6 {} O t{}\n", time, thread);
            break;
        default:
            fmt::format_to(to, "5 {} O t{} {}\n", time, thread,
                           record.kind == kWaits ? "waits" : "preempted");
    }
    out.full();
}

/// Two parts of each thread: calls, and times off the processor.
void merge(const views::Visit& visit, const Spool& spool, Buffer& out) {
    std::vector<Part> parts;
    std::uint64_t from = 0;
    for (const std::uint64_t to : spool.parts()) {
        parts.emplace_back(spool.file(), from, to);
        from = to;
    }
    using Next = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> order;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (const Record* first = parts[i].front()) order.emplace(first->ns, i);
    std::int64_t last = 0;
    while (!order.empty() && out.good()) {
        const std::size_t i = order.top().second;
        order.pop();
        last = parts[i].front()->ns;
        write_record(*parts[i].front(), visit.threads()[i / 2], out);
        parts[i].pop();
        if (const Record* next = parts[i].front()) order.emplace(next->ns, i);
    }
    last = std::max(last, visit.clock().since_origin(visit.span().end));
    for (const std::uint32_t t : visit.threads())
        out.append(fmt::format("4 {} t{} T\n", seconds(last), t));
    out.append(fmt::format("4 {} p P\n", seconds(last)));
}

}  // namespace

Result<Written> write_paje(const views::Visit& visit, const Options& /*options*/, Sink& sink) {
    Buffer out{sink};
    const auto fd = open_temporary_file("paje");
    if (!fd) return tl::unexpected{fd.error()};
    Spool spool{visit, File{fdopen(*fd, "w+")}};
    const auto no_room = [] {
        return fail("the directory for temporary files cannot be written: {}; set TMPDIR to one that can",
                    std::strerror(errno));
    };
    if (!spool.good()) return no_room();
    for (const std::uint32_t thread : visit.threads()) {
        if (auto read = visit.thread(thread, spool); !read && spool.good())
            return tl::unexpected{read.error()};
        spool.end_part();
        const auto off_cpu = visit.off_cpu(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        for (const trace::OffCpu& each : *off_cpu) {
            spool.add({spool.since(each.out), 0, each.preempted ? kPreempted : kWaits});
            spool.add({spool.since(each.in), 0, kOn});
        }
        spool.end_part();
        if (!spool.good() || std::fflush(spool.file()) != 0) return no_room();
    }
    write_header(visit, spool, out);
    merge(visit, spool, out);
    return out.finish({.calls = spool.calls()});
}

}  // namespace rdam::exports
