// The file of a loaded object as an unwinder needs it: bytes by run-time address, and the table of its frame
// descriptions.
#pragma once

#include <libunwind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

/// What unwinding needs of a file's headers.
struct ImageHeaders {
    struct Part {
        std::uint64_t address;  ///< as the file has it
        std::uint64_t offset;
        std::uint64_t size;
    };

    std::vector<Part> segments;
    std::vector<Part> notes;
    std::uint64_t table = 0;  ///< address of .eh_frame_hdr; 0: there is none

    /// `bytes`: the file, or its beginning. Empty where that does not have them.
    static ImageHeaders read(std::span<const std::uint8_t> bytes);
    /// Hex; empty: there is none.
    std::string build_id(std::span<const std::uint8_t> bytes) const;
};

/// Whether the object's file has been replaced since it was loaded, as far as its build ID tells.
bool is_replaced(const ProcessObject& object);

/// All addresses are run-time addresses. An object whose file cannot be read, or is another one by now (its
/// build ID says so), contains its addresses and has no bytes. The file that is there at the beginning is the
/// one that is read when an address in it is looked for, which is so of few objects.
class Image {
  public:
    explicit Image(const ProcessObject& object);
    Image(Image&& other) noexcept;
    Image& operator=(Image&& other) noexcept;
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image();

    bool lies_in(std::uint64_t begin, std::uint64_t end) const { return base_ >= begin && end_ <= end; }
    bool contains(std::uint64_t address) const {
        return address >= base_ && address < end_ && address >= headers().first;
    }
    bool read(std::uint64_t address, void* to, std::size_t size) const;

    /// The .eh_frame_hdr in the form that libunwind's table search wants; false when there is none of that
    /// form.
    bool describe_table(unw_dyn_info_t& info) const;

  private:
    struct Loaded {
        ImageHeaders file;
        std::uint64_t first = 0;  ///< address of the first segment
    };

    const Loaded& headers() const { return headers_ ? *headers_ : read_headers(); }
    const Loaded& read_headers() const;

    std::uint64_t base_;
    std::uint64_t end_;
    std::string build_id_;
    std::span<const std::uint8_t> file_;
    mutable std::optional<Loaded> headers_;  ///< nothing: not read yet
};

}  // namespace rdam::agent
