// Traces damaged at random, and what is to be read from them: all chunks that were not hit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/base/result.h"
#include "tools/trace/format.h"

namespace damage {

using Bytes = std::vector<std::uint8_t>;
using Calls = std::map<std::string, std::uint64_t>;  // by function

struct Chunk {
    std::size_t begin = 0;
    std::size_t end = 0;  ///< of the payload, without what fills it up
    rdam::trace::format::ChunkHeader header;
    Calls calls;
};

struct Original {
    Bytes file;
    std::vector<Chunk> chunks;  ///< the index is the last
};

struct Expectation {
    Calls calls = {};          ///< in the event chunks that were not hit
    bool exact = false;        ///< all descriptions are whole: these very calls are found
    bool loses_calls = false;  ///< an event chunk was hit
    bool readable = false;     ///< some chunk of events was not hit, nor a description
    bool one_payload = false;  ///< nothing but the payload of one event chunk was hit
};

struct Damaged {
    Bytes file;
    Expectation expected;
    std::string what;  ///< was done
};

/// Errors: the trace cannot be read, is damaged, or is too small for damage to hit only a part of it.
rdam::Result<Original> read_original(const std::string& path, const Bytes& file);

Damaged damage_at_random(const Original& original, std::uint64_t seed);

/// What is wrong with these calls; empty: nothing.
std::string compare(const Calls& found, const Expectation& expected);

}  // namespace damage
