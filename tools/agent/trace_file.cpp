#include "tools/agent/trace_file.h"

#include <fmt/format.h>

#include "tools/agent/output_file.h"
#include "wrappers/support/printable.h"

namespace rdam::agent {
namespace {

constexpr double kDescribeSeconds = 1.0;

}  // namespace

bool TraceFile::open() {
    if (writer_) return true;
    if (!error_.empty()) return false;
    auto file = open_output(wanted_, info_.process);
    if (!file) {
        error_ = file.error().message;
        return false;
    }
    path_ = file->path;
    // `rdam record` lists the files of its run itself.
    if (!file->remark.empty() && info_.process.run.empty()) info_.remarks.push_back(file->remark);
    auto writer = trace::TraceWriter::create(file->fd, file->path);
    if (!writer) {
        error_ = writer.error().message;
        return false;
    }
    writer_ = std::move(*writer);
    describe();
    return true;
}

void TraceFile::append(std::uint32_t thread, const trace::Packs& packs) {
    if (!open()) {
        lost_ += packs.events;
        info_.threads[thread].dropped += packs.events;
        return;
    }
    if (const auto done = writer_->append(thread, packs); !done) {
        error_ = done.error().message;
        lost_ += packs.events;
    }
}

void TraceFile::describe() {
    if (!writer_) return;
    const std::uint64_t now = rate_.now();
    info_.clock.ticks_per_second = rate_.result();
    const bool due = described_ == 0 ||
                     static_cast<double>(now - described_) > kDescribeSeconds * info_.clock.ticks_per_second;
    if (!due) return;
    described_ = now;
    if (const auto done = writer_->describe(info_); !done) error_ = done.error().message;
}

std::string TraceFile::finish() {
    info_.clock.ticks_per_second = rate_.result();
    if (lost_ > 0) info_.remarks.push_back(fmt::format("{} events could not be written: {}", lost_, error_));
    if (writer_)
        if (const auto done = writer_->finish(info_); !done) error_ = done.error().message;
    std::string text;
    for (const std::string& remark : info_.remarks)
        text += "rdam: " + printable(remark) + "\n";
    if (lost_ == 0 && !error_.empty()) text += "rdam: " + printable(error_) + "\n";
    return text;
}

}  // namespace rdam::agent
