// The sequences of a thread's calls, kept from the first pass for those that follow: to find them is much of
// what a pass takes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdam::views {

/// What the logs of all threads may take together. Thread-safe.
class LogRoom {
  public:
    explicit LogRoom(std::size_t bytes) : left_(bytes) {}

    /// False: there is not so much.
    bool take(std::size_t bytes) {
        std::size_t left = left_;
        while (left >= bytes)
            if (left_.compare_exchange_weak(left, left - bytes)) return true;
        return false;
    }
    void give_back(std::size_t bytes) { left_ += bytes; }

  private:
    std::atomic<std::size_t> left_;
};

/// Of a thread, in the order in which its calls end: a byte or two for each. Not thread-safe. Logs of
/// different threads, which lie side by side, share no cache line, nor a pair of them.
class alignas(128) SequenceLog {
  public:
    void add(std::uint32_t sequence, LogRoom& room) {
        if (!whole_) return;
        constexpr std::size_t kMaxBytes = 5;
        if (bytes_.capacity() - bytes_.size() < kMaxBytes && !grow(room)) return;
        for (; sequence >= kMore; sequence >>= kBits)
            bytes_.push_back(static_cast<std::uint8_t>(sequence | kMore));
        bytes_.push_back(static_cast<std::uint8_t>(sequence));
    }
    /// Whether there was room for all calls.
    bool whole() const { return whole_; }

    /// From the first call on.
    class Reader {
      public:
        explicit Reader(const SequenceLog& log) : at_(log.bytes_.data()), end_(at_ + log.bytes_.size()) {}
        std::uint32_t next() {
            std::uint32_t sequence = 0;
            for (unsigned shift = 0; at_ != end_; shift += kBits) {
                const std::uint8_t byte = *at_++;
                sequence |= std::uint32_t{byte} % kMore << shift;
                if (byte < kMore) break;
            }
            return sequence;
        }

      private:
        const std::uint8_t *at_, *end_;
    };

  private:
    static constexpr std::uint32_t kMore = 0x80;
    static constexpr unsigned kBits = 7;

    bool grow(LogRoom& room) {
        constexpr std::size_t kFirst = 4096;
        const std::size_t before = bytes_.capacity(), more = std::max(kFirst, before);
        if (room.take(more)) {
            bytes_.reserve(before + more);
            return true;
        }
        bytes_ = {};
        room.give_back(before);
        whole_ = false;
        return false;
    }

    std::vector<std::uint8_t> bytes_;
    bool whole_ = true;
};

}  // namespace rdam::views
