// Reading and writing the bytes of unwind tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rdam::unwinding {

/// Reads forward through bytes that may be damaged: what would be behind the end is 0, and bad() from then
/// on.
class Cursor {
  public:
    explicit Cursor(std::span<const std::uint8_t> bytes)
        : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

    bool bad() const { return bad_; }
    bool at_end() const { return at_ == end_; }
    const std::uint8_t* at() const { return at_; }
    std::span<const std::uint8_t> rest() const { return {at_, end_}; }

    std::uint8_t byte();
    /// Little-endian, `size` bytes, at most 8.
    std::uint64_t fixed(unsigned size);
    std::uint64_t uleb();
    std::int64_t sleb();
    void skip(std::uint64_t size);

  private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool bad_ = false;
};

using Bytes = std::vector<std::uint8_t>;

void put_fixed(Bytes& out, std::uint64_t value, unsigned size);
void put_uleb(Bytes& out, std::uint64_t value);
void put_sleb(Bytes& out, std::int64_t value);
/// In exactly `size` bytes, which must be enough.
void put_padded_uleb(Bytes& out, std::uint64_t value, unsigned size);
void put_bytes(Bytes& out, std::span<const std::uint8_t> bytes);

}  // namespace rdam::unwinding
