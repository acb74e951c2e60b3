// The file of a loaded object as an unwinder needs it: bytes by run-time address, and the table of its frame
// descriptions.
#pragma once

#include <libunwind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

/// All addresses are run-time addresses. An object whose file cannot be read, or is another one by now (its
/// build ID says so), contains its addresses and has no bytes.
class Image {
  public:
    explicit Image(const ProcessObject& object);
    Image(Image&& other) noexcept;
    Image& operator=(Image&& other) noexcept;
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image();

    /// Whether the file has been replaced since it was loaded, as far as its build ID tells.
    bool is_replaced() const { return replaced_; }
    bool lies_in(std::uint64_t begin, std::uint64_t end) const { return base_ >= begin && end_ <= end; }
    bool contains(std::uint64_t address) const { return address >= first_address() && address < end_; }
    bool read(std::uint64_t address, void* to, std::size_t size) const;

    /// The .eh_frame_hdr in the form that libunwind's table search wants; false when there is none of that
    /// form.
    bool describe_table(unw_dyn_info_t& info) const;

  private:
    struct Segment {
        std::uint64_t address;
        std::uint64_t offset;
        std::uint64_t size;
    };

    struct Notes {
        std::uint64_t offset;
        std::uint64_t size;
    };

    std::uint64_t first_address() const { return segments_.empty() ? base_ : segments_.front().address; }
    void read_headers();
    std::string build_id() const;

    std::uint64_t base_;
    std::uint64_t end_;
    std::span<const std::uint8_t> file_;
    std::vector<Segment> segments_;
    std::uint64_t table_ = 0;
    std::vector<Notes> notes_;
    bool replaced_ = false;
};

}  // namespace rdam::agent
