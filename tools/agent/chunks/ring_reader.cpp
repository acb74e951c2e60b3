#include "tools/agent/chunks/ring_reader.h"

#include <algorithm>

namespace rdam::agent {
namespace {

/// Between the announcement and the entry are two instructions of a thread, which may be stopped in between.
constexpr std::chrono::seconds kRingPatience{1};

}  // namespace

std::uint32_t RingReader::announced() const {
    const auto tail = control_.ring_tail.hear();
    const std::uint32_t left = tail.value - head_;
    return tail.whole && left <= shm::kRingSize ? left : 0;
}

std::uint32_t RingReader::next() {
    const auto tail = control_.ring_tail.hear();
    if (tail.whole && tail.value == head_) return 0;
    const std::uint32_t entry = control_.ring[head_ % shm::kRingSize].exchange(0);
    const auto now = Clock::now();
    if (entry != 0 || announced() == 0 || awaited_ != head_) {
        awaited_ = head_;
        since_ = now;
        return entry;
    }
    if (now - since_ <= kRingPatience) return 0;
    skipped_.push_back(head_ % shm::kRingSize);
    done();
    return 0;
}

void RingReader::done() {
    control_.ring_head.store(++head_);
}

std::vector<std::uint32_t> RingReader::take_late() {
    std::vector<std::uint32_t> entries;
    for (std::uint32_t& place : skipped_)
        if (const std::uint32_t entry = control_.ring[place].exchange(0); entry != 0) {
            place = shm::kNone;
            entries.push_back(entry);
        }
    std::erase(skipped_, shm::kNone);
    return entries;
}

}  // namespace rdam::agent
