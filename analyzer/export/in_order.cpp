#include "analyzer/export/in_order.h"

#include <utility>

namespace rdam::formats {

void InOrder::pass_on(std::string_view bytes) {
    if (error_ || bytes.empty()) return;
    if (auto written = sink_.write(bytes); !written) error_ = written.error();
}

Result<void> InOrder::write(std::size_t part, std::string_view bytes) {
    std::unique_lock lock{mutex_};
    moved_.wait(lock, [&] { return error_ || part == turn_ || bytes_ + bytes.size() <= most_; });
    if (!error_ && part == turn_) {
        pass_on(bytes);
        if (error_) moved_.notify_all();
    } else if (!error_) {
        held_[part].bytes += bytes;
        bytes_ += bytes.size();
    }
    if (error_) return tl::unexpected{*error_};
    return {};
}

void InOrder::end(std::size_t part) {
    const std::lock_guard lock{mutex_};
    held_[part].over = true;
    // Whoever is next has what it has written so far passed on, and goes on by itself.
    while (!held_.empty() && held_.begin()->first == turn_ && held_.begin()->second.over) {
        held_.erase(held_.begin());
        ++turn_;
        const auto next = held_.find(turn_);
        if (next == held_.end()) break;
        const std::string bytes = std::exchange(next->second.bytes, {});
        bytes_ -= bytes.size();
        pass_on(bytes);
    }
    moved_.notify_all();
}

}  // namespace rdam::formats
