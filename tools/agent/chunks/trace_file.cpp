#include "tools/agent/chunks/trace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>

#include "tools/agent/chunks/output_file.h"
#include "tools/base/printable.h"

namespace rdam::agent {
namespace {

constexpr double kDescribeSeconds = 1.0;

}  // namespace

bool TraceFile::open() {
    if (writer_) return true;
    if (!error_.empty()) return false;
    name_.tell_events();
    auto file = open_output(wanted_, info_.process);
    if (!file) {
        error_ = file.error().message;
        return false;
    }
    path_ = file->path;
    fd_ = file->fd;
    replaced_ = file->replaced;
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

/// What others have done to the file while it was being written; empty: nothing.
std::string TraceFile::displaced() const {
    struct stat ours {};
    struct stat there {};
    if (fstat(fd_, &ours) != 0) return {};
    const bool found = stat(path_.c_str(), &there) == 0;
    if (!found && errno != ENOENT && errno != ENOTDIR) return {};
    if (found && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) return {};
    if (ours.st_nlink == 0)
        return fmt::format("{} was {} while it was being written, and is lost; record again", path_,
                           found ? "replaced" : "deleted");
    return fmt::format("{} was moved while it was being written: the trace is where it was moved to", path_);
}

std::string TraceFile::finish() {
    info_.clock.ticks_per_second = rate_.result();
    std::string text;
    // `rdam record` lists the files of its run itself.
    if (replaced_ && info_.process.run.empty())
        text = "rdam: " + printable(path_) + ": replacing the trace of an earlier run\n";
    for (const std::string& remark : std::span(info_.remarks).subspan(printed_))
        text += "rdam: " + printable(remark) + "\n";
    const std::string lost = fmt::format("{} events could not be written: {}", lost_, error_);
    if (lost_ > 0) info_.remarks.push_back(lost);
    if (writer_) {
        const std::string gone = displaced();
        if (const auto done = writer_->finish(info_); !done)
            error_ = done.error().message;
        else if (!gone.empty())
            error_ = gone;
    }
    if (error_.empty()) return text;
    const std::string& reason = lost_ > 0 ? lost : error_;
    // `rdam record` reports what is missing, even where the program was killed.
    const bool told = name_.tell_failure(reason) && !info_.process.run.empty();
    return told ? text : text + "rdam: " + printable(reason) + "\n";
}

}  // namespace rdam::agent
