#include "tools/rdam/command/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "tools/base/interruption.h"
#include "tools/base/printable.h"

namespace rdam {

void say(std::string_view message) {
    // fmt::print() would throw if standard error is closed.
    std::fputs(fmt::format("rdam: {}\n", printable(message)).c_str(), stderr);
}

namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kBetween{200};

}  // namespace

ProgressLine::ProgressLine(std::string_view doing, std::uint64_t total)
    : doing_(doing),
      total_(total),
      terminal_(isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + kPatience) {}

ProgressLine::~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::update(std::uint64_t events) {
    if (!terminal_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kBetween;
    if (total_ > 0) {
        const double share = static_cast<double>(events) / static_cast<double>(total_);
        fmt::print(stderr, "\rrdam: {}, {:.0f} %\x1b[K", doing_, std::min(share, 1.0) * 100);
    } else {
        fmt::print(stderr, "\rrdam: {}, {} so far\x1b[K", doing_, events);
    }
    std::fflush(stderr);
    shown_ = true;
}

void ProgressLine::update_or_stop(std::uint64_t events) {
    update(events);
    if (Interruption::came()) throw std::runtime_error("interrupted");
}

}  // namespace rdam
