// Encodes a TraceInfo as the protobuf messages of docs/trace.proto, in parts: a part is written again only
// when it has changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::trace {

/// One serialized Description message, and what to remember once it is safely in the file.
struct DescriptionPart {
    std::string message;
    std::vector<std::pair<std::uint64_t*, std::uint64_t>> written;
};

class DescriptionWriter {
  public:
    /// The parts of `info` that are new or differ from what was confirmed, in messages of about 256 KiB;
    /// `threads`, `dropped` and `switches_lost` stand for what `info` has under these names. Use or discard
    /// them before the next call.
    std::vector<DescriptionPart> changes(const TraceInfo& info, const std::vector<ThreadInfo>& threads,
                                         std::uint64_t dropped, std::uint64_t switches_lost);
    /// `part` is in the file.
    static void confirm(const DescriptionPart& part);
    /// The next changes() gives all.
    void forget();

  private:
    /// Hashes of what was written, 0: never, by field and item.
    std::map<std::uint32_t, std::vector<std::uint64_t>> written_;
};

}  // namespace rdam::trace
