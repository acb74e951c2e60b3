// Where the chunks of a trace file are: from its index or, when that is missing or damaged, by scanning.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/base/unmovable.h"
#include "tools/trace/file_input.h"
#include "tools/trace/format.h"
#include "tools/trace/reader.h"

namespace rdam::trace {

struct ChunkPlace {
    std::uint64_t offset = 0;
    std::uint32_t thread = format::kNoThread;
    std::uint32_t sequence = 0;
    std::uint32_t events = 0;
    std::uint32_t stored_size = 0;
    std::uint16_t flags = 0;
    std::uint8_t type = 0;

    bool is(format::ChunkType wanted) const { return type == static_cast<std::uint8_t>(wanted); }
};

/// Event and description chunks (and those of unknown type) in the order of the file. Nothing but their place
/// is checked; each place has a header and a payload inside the file. Adds to `damage`.
std::vector<ChunkPlace> list_chunks(const FileInput& file, Damage& damage);

/// Whether a chunk of events may take far more memory than chunks of a recorder do for their bytes in the
/// file. It need not be a good one.
bool expands_far(const FileInput& file, const ChunkPlace& place);

/// Reads chunks and undoes their compression. Keeps its buffers; one per thread.
class ChunkLoader : private Unmovable {
  public:
    ChunkLoader();
    ~ChunkLoader();

    /// False: the bytes at `place` are not the whole chunk that it names, or fail their checksums.
    bool load(const FileInput& file, const ChunkPlace& place);

    const format::ChunkHeader& header() const { return header_; }
    /// Followed by varint::kSlack readable bytes.
    std::span<const std::uint8_t> payload() const { return payload_; }

  private:
    bool unpack(std::span<const std::uint8_t> stored);

    struct Decompressor;
    std::unique_ptr<Decompressor> decompressor_;
    format::ChunkHeader header_;
    std::vector<std::uint8_t> stored_;
    std::vector<std::uint8_t> raw_;
    std::span<const std::uint8_t> payload_;
};

}  // namespace rdam::trace
