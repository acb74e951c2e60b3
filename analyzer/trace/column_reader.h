// One column of an event chunk, read number by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/trace/varint.h"

namespace rdam::trace {

/// Reading past the end gives zeros and is seen afterwards: the slack behind the payload bounds a number that
/// runs over, so that the hot loop need not ask after each.
class ColumnReader {
  public:
    ColumnReader() = default;
    explicit ColumnReader(std::span<const std::uint8_t> bytes)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    std::uint64_t next() { return take(varint::get); }
    std::uint64_t next_small() { return take(varint::get_small); }

    std::size_t left() const { return at_ < end_ ? static_cast<std::size_t>(end_ - at_) : 0; }
    /// Ended exactly where the last number did.
    bool done() const { return at_ == end_ && !overrun_; }
    bool broken() const { return at_ > end_ || overrun_; }

  private:
    template <class Get>
    std::uint64_t take(const Get& get) {
        if (at_ >= end_) [[unlikely]]
            return overrun();
        const varint::Read read = get(at_);
        if (read.length == 0) [[unlikely]]
            return overrun();
        at_ += read.length;
        return read.value;
    }

    std::uint64_t overrun() {
        overrun_ = true;
        at_ = end_;
        return 0;
    }

    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
    bool overrun_ = false;
};

}  // namespace rdam::trace
