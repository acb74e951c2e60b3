// One line on stderr that is written over, for those who wait longer than two seconds before a terminal.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace rdam {

class ProgressLine {
  public:
    explicit ProgressLine(std::uint64_t total) : total_(total) {}
    ~ProgressLine() {
        if (shown_) fmt::print(stderr, "\r\x1b[K");
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ProgressLine(ProgressLine&&) = delete;
    ProgressLine& operator=(ProgressLine&&) = delete;

    void update(std::uint64_t events) {
        if (!terminal_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds{2}) return;
        const double share = total_ > 0 ? static_cast<double>(events) / static_cast<double>(total_) : 1.0;
        fmt::print(stderr, "\rrdam: analyzing, {:.0f} %\x1b[K", std::min(share, 1.0) * 100);
        std::fflush(stderr);
        shown_ = true;
    }

  private:
    std::uint64_t total_;
    bool terminal_ = isatty(STDERR_FILENO) == 1;
    bool shown_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace rdam
